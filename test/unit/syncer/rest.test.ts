import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Handlers } from '../../../client/cache.ts';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { systemClock } from '../../../kube/clock.ts';
import { encodeJson } from '../../../kube/json.ts';
import { somethingComes } from '../../../syncer/rest.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const namespaces = { group: '', resource: 'namespaces' };
const list = (items: object[]) => ({ status: 200, body: { kind: 'NamespaceList', items } });

function rest(answers: { status: number; body: object }[]) {
  const stop = new AbortController();
  const asked: string[] = [];
  const handlers = new Set<Handlers<ShareView>>();
  const shares = {
    on(one: Handlers<ShareView>) {
      handlers.add(one);
      return () => handlers.delete(one);
    },
  } as unknown as Informer<ShareView>;
  const client = new Client(async ({ url }) => {
    asked.push(url);
    const { status, body } = answers.shift() ?? list([]);
    return { status, headers: {}, body: Buffer.from(encodeJson(body)) };
  });
  const unreadable = new Unreadable(() => undefined);
  const state = { hasCome: false };
  void somethingComes({ client, shares, unreadable, signal: stop.signal, clock: systemClock }).then(() => {
    state.hasCome = true;
  });
  return { stop, asked, handlers, unreadable, state };
}

test('nothing comes of a cluster that has nothing, which is asked every two minutes', async () => {
  const { asked, state, stop, handlers } = rest([]);
  await vi.advanceTimersByTimeAsync(601_000);
  expect(state.hasCome).toBe(false);
  expect(asked).toHaveLength(5);
  expect(asked[0]).toContain('/api/v1/namespaces?limit=1&labelSelector=');
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect([state.hasCome, handlers.size]).toEqual([true, 0]);
});

test('a share comes at once', async () => {
  const { handlers, state, asked } = rest([]);
  for (const one of handlers) one.add?.({} as ShareView, 'key');
  await vi.advanceTimersByTimeAsync(0);
  expect([state.hasCome, asked.length, handlers.size]).toEqual([true, 0, 0]);
});

test('a namespace that somebody put there is found', async () => {
  const { state } = rest([list([]), list([{ metadata: { name: 'home' } }])]);
  await vi.advanceTimersByTimeAsync(121_000);
  expect(state.hasCome).toBe(false);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(state.hasCome).toBe(true);
});

test('where Namespaces may not be read that is told, until they may', async () => {
  const { unreadable, state } = rest([
    {
      status: 403,
      body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 },
    },
    list([]),
  ]);
  await vi.advanceTimersByTimeAsync(121_000);
  expect([unreadable.why(namespaces), state.hasCome]).toEqual(['Forbidden', false]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect([unreadable.why(namespaces), state.hasCome]).toEqual([undefined, false]);
});
