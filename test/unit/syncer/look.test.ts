import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import { look } from '../../../syncer/look.ts';

const { signal } = new AbortController();
const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});
const identity = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: 'u' } };
const failed = (code: number, reason: string) =>
  answer(code, { kind: 'Status', status: 'Failure', code, reason, message: reason });

/** A cluster that answers so, and what it was asked. */
function cluster(ofNamespace: () => ApiResponse | Promise<ApiResponse>) {
  const asked: string[] = [];
  const client = new Client(async ({ url, signal: ending }) => {
    asked.push(url);
    ending?.throwIfAborted();
    return url.includes('/namespaces/') ? await ofNamespace() : answer(200, { gitVersion: 'v1.36.3' });
  });
  return { asked, client };
}

test('it is asked which cluster it is, and its version only when that is wanted', async () => {
  const { asked, client } = cluster(() => answer(200, identity));
  expect(await look(client, { signal, timeoutMs: 1_000, version: false })).toEqual({ clusterUID: 'u' });
  expect(asked).toEqual(['/api/v1/namespaces/kube-system']);
  expect(await look(client, { signal, timeoutMs: 1_000, version: true })).toEqual({
    clusterUID: 'u',
    version: 'v1.36.3',
  });
});

test.each([
  [404, 'NotFound'],
  [403, 'Forbidden'],
])('one that says %s to that answers all the same', async (code, reason) => {
  const { client } = cluster(() => failed(code, reason));
  expect(await look(client, { signal, timeoutMs: 1_000, version: false })).toEqual({});
});

test('one that is busy says so, and what else fails is why it does not answer', async () => {
  const busy = await look(cluster(() => failed(429, 'TooManyRequests')).client, {
    signal,
    timeoutMs: 1_000,
    version: false,
  });
  expect(busy).toMatchObject({ error: expect.any(String), busy: { code: 429 } });
  const refused = cluster(() => Promise.reject(new TransportError('ECONNREFUSED', 'nobody is there')));
  expect(await look(refused.client, { signal, timeoutMs: 1_000, version: false })).toEqual({
    error: 'nobody is there',
  });
});

test('a look that is ended says nothing of the cluster', async () => {
  const ending = new AbortController();
  const { client } = cluster(() => {
    ending.abort(new Error('done'));
    return Promise.reject(new TransportError('ECONNRESET', 'cut'));
  });
  await expect(look(client, { signal: ending.signal, timeoutMs: 1_000, version: false })).rejects.toThrow(
    'done',
  );
});
