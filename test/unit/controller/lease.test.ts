import { expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { type Lease, mayHold, runLeader } from '../../../controller/lease.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { conflict, notFound } from '../../../kube/status.ts';

test.each([
  ['nobody holds it', undefined, 0, true],
  ['it was given back', { holderIdentity: '' }, 0, true],
  ['it is ours', { holderIdentity: 'me', leaseDurationSeconds: 10 }, 0, true],
  ['another renewed it', { holderIdentity: 'you', leaseDurationSeconds: 10 }, 10_000, false],
  ['another let it lapse', { holderIdentity: 'you', leaseDurationSeconds: 10 }, 10_001, true],
])('%s', (_name, spec, silence, expected) => {
  expect(mayHold(spec, 'me', { version: '1', at: 5 }, 5 + silence)).toBe(expected);
});

/** One lease with compare-and-swap; `cut` has a process's requests fail. */
function shared() {
  let lease: KubeObject | undefined;
  let version = 0;
  const cut = new Set<string>();
  const transport =
    (who: string): Transport =>
    async ({ method, body }) => {
      if (cut.has(who)) throw new Error('cut off');
      const at = { group: 'coordination.k8s.io', resource: 'leases' };
      const answer = (status: number, value: object) => ({
        status,
        headers: {},
        body: Buffer.from(JSON.stringify(value)),
      });
      if (method === 'GET' && !lease) return answer(404, notFound(at, 'l').toStatus());
      if (method === 'GET' && lease) return answer(200, lease);
      const sent = JSON.parse(Buffer.from(body ?? []).toString()) as KubeObject;
      if (lease && sent.metadata.resourceVersion !== lease.metadata.resourceVersion) {
        return answer(409, conflict(at, 'l', 'stale').toStatus());
      }
      version += 1;
      lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(version) } };
      return answer(200, lease);
    };
  return { transport, cut, spec: () => (lease as Lease | undefined)?.spec };
}

test('one leads at a time; a lost leader stops before the next begins, with a higher token', async () => {
  const server = shared();
  const stop = new AbortController();
  const log: string[] = [];
  let leading = 0;
  let most = 0;
  const run = (identity: string) =>
    runLeader({
      client: new Client(server.transport(identity)),
      lease: { namespace: 'x', name: 'l' },
      identity,
      signal: stop.signal,
      logger: silentLogger,
      durationMs: 1_000,
      renewMs: 300,
      retryMs: 20,
      async lead(signal, token) {
        log.push(`${identity} ${token}`);
        leading += 1;
        most = Math.max(most, leading);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        leading -= 1;
      },
    });
  const both = [run('a')];
  await vi.waitFor(() => expect(log).toEqual(['a 1']));
  both.push(run('b'));
  server.cut.add('a');
  await vi.waitFor(() => expect(log).toEqual(['a 1', 'b 2']), { timeout: 5_000 });
  server.cut.delete('a');
  stop.abort();
  await Promise.all(both);
  expect(most).toBe(1);
  expect(server.spec()).toMatchObject({ holderIdentity: '', leaseTransitions: 2 });
});
