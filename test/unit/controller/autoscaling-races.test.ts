import { expect, it } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { type Found, writeScale } from '../../../controller/autoscaling/target.ts';
import { StatusError } from '../../../kube/status.ts';

const conflict = () => new StatusError(409, 'Conflict', 'modified');

it.each([
  [1, 'written'],
  [4, 'written'],
  [5, 'modified'],
])('a scale that loses %i races is %s', async (races, outcome) => {
  const sent: unknown[] = [];
  let version = 1;
  const client = {
    update: async (_resource: unknown, { metadata, spec }: { metadata: object; spec: object }) => {
      sent.push({ ...metadata, ...spec });
      if (sent.length <= races) throw conflict();
    },
    get: async () => ({
      metadata: { name: 'web', resourceVersion: String(++version) },
      spec: { replicas: 1 },
    }),
  } as unknown as Client;
  const object = { metadata: { name: 'web', resourceVersion: '1' }, spec: { replicas: 1 } };
  const where = { cluster: 'root', namespace: 'default', signal: new AbortController().signal };
  const written = writeScale(client, { resource: {}, object } as unknown as Found, 3, where);
  expect(
    await written.then(
      () => 'written',
      ({ message }: Error) => message,
    ),
  ).toBe(outcome);
  expect(sent.at(-1)).toEqual({ name: 'web', resourceVersion: String(version), replicas: 3 });
});
