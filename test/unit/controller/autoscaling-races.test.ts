import { expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import { type Found, writeScale } from '../../../controller/autoscaling/target.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';

const conflict = { kind: 'Status', status: 'Failure', code: 409, reason: 'Conflict', message: 'modified' };
const resource = { group: 'apps', version: 'v1', resource: 'deployments' };

it.each([
  [1, 'written'],
  [4, 'written'],
  [5, 'modified'],
])('a scale that loses %i races is %s', async (races, outcome) => {
  const sent: unknown[] = [];
  let version = 1;
  const scale = (replicas: number) => ({
    metadata: { name: 'web', namespace: 'default', resourceVersion: String(version) },
    spec: { replicas },
  });
  const answer = (status: number, body: object): ApiResponse => ({
    status,
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
  });
  const client = new Client(async ({ method, body }: ApiRequest) => {
    if (method === 'PUT') {
      sent.push(JSON.parse(Buffer.from(body as Uint8Array).toString()));
      return sent.length <= races ? answer(409, conflict) : answer(200, scale(3));
    }
    version++;
    return answer(200, scale(1));
  });
  const where = { cluster: 'root', namespace: 'default', signal: new AbortController().signal };
  const written = writeScale(client, { resource, object: scale(1) } as Found, 3, where);
  expect(
    await written.then(
      () => 'written',
      ({ message }: Error) => message,
    ),
  ).toBe(outcome);
  expect(sent.at(-1)).toEqual(scale(3));
});
