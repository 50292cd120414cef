import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { Reflector } from '../../../syncer/reflector.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const lifetime = new Set<AbortController>();
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const life of lifetime) life.abort();
  lifetime.clear();
  vi.useRealTimers();
});

/** One whose cluster never answers; `list`: what is asked of the logical clusters. */
function start(list: () => Promise<unknown>, ready: readonly Promise<unknown>[]): void {
  const never = () => new Promise(() => {});
  run({ list: never, watch: never, json: never }, { list }, 'pods', ready);
}

/** All that it finds in a namespace of ours it shows. */
function run(
  client: object,
  upstream: object,
  resource: string,
  ready: readonly Promise<unknown>[],
  onShown: (uid: string) => void = () => {},
): void {
  const life = new AbortController();
  lifetime.add(life);
  const locator = { cluster: 'root:team', namespace: 'shop', uid: 'uid-of-shop' };
  const engine = {
    name: 'east',
    client: client as Client,
    upstream: upstream as Client,
    unreadable: new Unreadable(() => {}),
    namespaces: { of: () => ['shop-01234567'], own: () => ({ locator }) },
    signal: life.signal,
    logger,
  };
  const reflector = new Reflector(engine as unknown as Engine, resource, async (_key, object) => object);
  reflector.onShown = onShown;
  reflector.informer.wake();
  reflector.run(ready).catch(() => {});
}

test('nothing that was reflected is looked at before it is known which namespaces are whose', async () => {
  const list = vi.fn(async () => ({ items: [] }));
  start(list, [new Promise(() => {})]);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(list).not.toHaveBeenCalled();
});

test('what was reflected is asked for again after ten seconds where that fails, and else after five minutes', async () => {
  let isDown = true;
  const list = vi.fn(async () => {
    if (isDown) throw new Error('not now');
    return { items: [] };
  });
  start(list, [Promise.resolve()]);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(list).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(list).toHaveBeenCalledTimes(2);
  isDown = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(list).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(279_999);
  expect(list).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(list).toHaveBeenCalledTimes(4);
});

test.each([
  ['replicasets', [undefined, 'one', 'two']],
  ['pods', [undefined]],
])(
  'of %s what is shown no more, or is another, is said again where several clusters may have it',
  async (resource, said) => {
    const metadata = { name: 'web', namespace: 'shop-01234567', uid: 'there' };
    const read = { metadata: { resourceVersion: '1' }, items: [{ metadata }] };
    const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
    const uids = ['one', 'two', 'three'];
    const update = vi.fn(async (..._told: unknown[]) => ({ metadata: { uid: uids.shift() } }));
    const shown = (uid: string) => [{ metadata: { name: 'web', namespace: 'shop', uid } }];
    const lists = [[], [], shown('three'), shown('three')];
    const list = vi.fn(async () => ({ items: lists.shift() ?? [] }));
    run(client, { list, update }, resource, [Promise.resolve()]);
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(list).toHaveBeenCalledTimes(4);
    expect(update.mock.calls.map(([, object]) => (object as { shownUid?: string }).shownUid)).toEqual(said);
  },
);

test('whoever waits for something to be shown is told once it is, by its uid there', async () => {
  const metadata = { name: 'web', namespace: 'shop-01234567', uid: 'there' };
  const read = { metadata: { resourceVersion: '1' }, items: [{ metadata }] };
  const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
  const told: string[] = [];
  let isTaken = false;
  const update = vi.fn(async () => {
    if (!isTaken) throw new Error('not now');
    return { metadata: { uid: 'here' } };
  });
  const upstream = { list: async () => ({ items: [] }), update };
  run(client, upstream, 'replicasets', [Promise.resolve()], (uid) => told.push(uid));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual([]);
  isTaken = true;
  await vi.advanceTimersByTimeAsync(100_000);
  expect(told).toEqual(['there']);
});
