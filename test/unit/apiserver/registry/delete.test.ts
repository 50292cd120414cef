import { expect, test } from 'vitest';
import { createApiServer } from '../../../../apiserver/server.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { StoreError } from '../../../../storage/store.ts';

test('a deletion that others are always faster than ends with the request', async () => {
  const store = openMemory();
  const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
  const ask = server.transport({ name: 'admin', groups: ['system:masters'] });
  const url = '/api/v1/namespaces/default/configmaps';
  const headers = { 'content-type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ metadata: { name: 'a' } }));
  expect((await ask({ method: 'POST', url, headers, body })).status).toBe(201);
  const gone = new AbortController();
  let tries = 0;
  store.delete = async () => {
    if (++tries === 3) gone.abort();
    throw new StoreError('conflict', 'it has changed');
  };
  await ask({ method: 'DELETE', url: `${url}/a`, headers: {}, signal: gone.signal }).catch(() => undefined);
  await server.close();
  expect(tries).toBe(3);
  await store.close();
});
