import { expect, test } from 'vitest';
import { createApiServer } from '../../../apiserver/server.ts';
import { Client } from '../../../client/client.ts';
import { ensureSystemNamespaces } from '../../../controller/namespace/furnish.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { StoreError } from '../../../storage/store.ts';

test('a leader begins its term also where the store has no room for another object', async () => {
  const store = openMemory();
  const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
  const client = new Client(server.transport({ name: 'admin', groups: ['system:masters'] }));
  await ensureSystemNamespaces(client, 'root');
  const full = () => Promise.reject(new StoreError('full', 'no room'));
  Object.assign(store, { create: full, update: full });
  await expect(ensureSystemNamespaces(client, 'root')).resolves.toBeUndefined();
  await server.close();
  await store.close();
});
