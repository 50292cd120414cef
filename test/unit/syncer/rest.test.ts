import { expect, test } from 'vitest';
import type { Handlers } from '../../../client/cache.ts';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { encodeJson } from '../../../kube/json.ts';
import { Home, somethingComes } from '../../../syncer/rest.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const namespaces = { group: '', resource: 'namespaces' };
const list = (items: object[]) => ({ status: 200, body: { kind: 'NamespaceList', items } });
const forbidden = {
  status: 403,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 },
};

/** Until what is to be done now has been. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

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
  const client = new Client(async ({ url, signal }) => {
    asked.push(url);
    signal?.throwIfAborted();
    const { status, body } = answers.shift() ?? list([]);
    return { status, headers: {}, body: Buffer.from(encodeJson(body)) };
  });
  const unreadable = new Unreadable(() => undefined);
  const home = new Home(client, unreadable);
  const state = { hasCome: false };
  void somethingComes({ shares, home, signal: stop.signal }).then(() => {
    state.hasCome = true;
  });
  return { stop, asked, handlers, unreadable, state, ask: () => home.ask(stop.signal) };
}

test('nothing comes of a cluster that has nothing, however often it is asked', async () => {
  const { asked, state, stop, handlers, ask } = rest([]);
  for (let i = 0; i < 5; i++) expect(await ask()).toBe(false);
  await settle();
  expect(state.hasCome).toBe(false);
  expect(asked).toHaveLength(5);
  expect(asked[0]).toContain('/api/v1/namespaces?limit=1&labelSelector=');
  stop.abort();
  await settle();
  expect([state.hasCome, handlers.size]).toEqual([true, 0]);
});

test('a share comes at once', async () => {
  const { handlers, state, asked } = rest([]);
  for (const one of handlers) one.add?.({} as ShareView, 'key');
  await settle();
  expect([state.hasCome, asked.length, handlers.size]).toEqual([true, 0, 0]);
});

test('a namespace that somebody put there is found with the question that finds it', async () => {
  const { state, ask } = rest([list([]), list([{ metadata: { name: 'home' } }])]);
  expect(await ask()).toBe(false);
  await settle();
  expect(state.hasCome).toBe(false);
  expect(await ask()).toBe(true);
  await settle();
  expect(state.hasCome).toBe(true);
});

test('where Namespaces may not be read that is told, until they may', async () => {
  const { unreadable, state, ask } = rest([forbidden, list([])]);
  expect(await ask()).toBeUndefined();
  expect([unreadable.why(namespaces), state.hasCome]).toEqual(['Forbidden', false]);
  expect(await ask()).toBe(false);
  expect([unreadable.why(namespaces), state.hasCome]).toEqual([undefined, false]);
});

test('a question that is ended says nothing of what may be read', async () => {
  const { unreadable, stop, ask } = rest([]);
  stop.abort();
  expect(await ask()).toBeUndefined();
  expect(unreadable.why(namespaces)).toBeUndefined();
});
