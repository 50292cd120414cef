import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import { silentLogger } from '../../../kube/log.ts';
import { StatusError } from '../../../kube/status.ts';
import type { Engine } from '../../../syncer/engine.ts';
import type { Owners } from '../../../syncer/owners.ts';
import { PodReflector } from '../../../syncer/pods.ts';
import { Reflector } from '../../../syncer/reflector.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const logger = { ...silentLogger, warn: vi.fn() };
const lifetime = new Set<AbortController>();
beforeEach(() => {
  logger.warn.mockClear();
  vi.useFakeTimers();
});
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
): Reflector {
  const engine = engineOf(client, upstream);
  const reflector = new Reflector(engine, resource, async (_key, object) => object);
  reflector.informer.wake();
  reflector.run(ready).catch(() => {});
  return reflector;
}

function engineOf(client: object, upstream: object): Engine {
  const life = new AbortController();
  lifetime.add(life);
  const locator = { cluster: 'root:team', namespace: 'shop', uid: 'uid-of-shop' };
  const engine = {
    name: 'east',
    client: client as Client,
    upstream: upstream as Client,
    unreadable: new Unreadable(() => {}),
    namespaces: { of: () => ['shop-01234567'], own: () => ({ locator }) },
    up: new WorkQueue(),
    signal: life.signal,
    logger,
  };
  return engine as unknown as Engine;
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

const causes = [{ reason: 'NamespaceTerminating', message: 'namespace shop is being terminated' }];
test.each([
  ['taken by another', 'it is there', undefined, 1, 30],
  ['in a Namespace that goes', 'no', { causes }, 0, 12],
  ['in a logical cluster that goes', 'unable to create, because it is being terminated', undefined, 0, 12],
])(
  'what is %s is asked for less and less, and told where somebody can do something',
  async (_, message, details, told, most) => {
    const metadata = { name: 'web-1', namespace: 'shop-01234567', uid: 'there' };
    const read = { metadata: { resourceVersion: '1' }, items: [{ metadata }] };
    const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
    const update = vi.fn(async () => {
      throw new StatusError(403, 'Forbidden', message, details);
    });
    run(client, { list: async () => ({ items: [] }), update }, 'pods', [Promise.resolve()]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(logger.warn.mock.calls.filter(([, words]) => words === 'it cannot be reflected')).toHaveLength(
      told,
    );
    expect(update.mock.calls.length).toBeGreaterThan(1);
    expect(update.mock.calls.length).toBeLessThanOrEqual(most);
  },
);

test('whoever waits for it is told once, when it is shown or refused', async () => {
  const metadata = { name: 'web', namespace: 'shop-01234567', uid: 'there' };
  const read = { metadata: { resourceVersion: '1' }, items: [{ metadata }] };
  const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
  const taken = new StatusError(409, 'Conflict', 'replicasets.apps "web" already exists');
  const answers = [() => Promise.reject(new Error('not now')), () => Promise.reject(taken)];
  const update = vi.fn(
    async () => await (answers.shift() ?? (async () => ({ metadata: { uid: 'here' } })))(),
  );
  const reflector = run(client, { list: async () => ({ items: [] }), update }, 'replicasets', []);
  const told: unknown[] = [];
  reflector.onPendingNoMore((uid) => told.push([uid, update.mock.calls.length]));
  await vi.advanceTimersByTimeAsync(100_000);
  expect(update).toHaveBeenCalledTimes(3);
  expect(told).toEqual([['there', 2]]);
});

test('a pod comes up as soon as what owns it is shown', async () => {
  const controller = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web-1',
    uid: 'of-web-1',
    controller: true,
  };
  const namespace = 'shop-01234567';
  const metadata = { name: 'web-1-a', namespace, uid: 'there', ownerReferences: [controller] };
  const read = { metadata: { resourceVersion: '1' }, items: [{ metadata }] };
  const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
  const update = vi.fn(async (..._told: unknown[]) => ({ metadata: { uid: 'here' } }));
  const engine = engineOf(client, { list: async () => ({ items: [] }), update });
  const told: ((uid: string) => void)[] = [];
  const isPending = vi.fn(() => true);
  const replicaSets = { isPending, onPendingNoMore: told.push.bind(told) };
  const root = { target: 'deployments.apps/shop-01234567/web' };
  const owners = { rootOf: async () => root, missing: () => [] } as unknown as Owners;
  const pods = new PodReflector(
    engine,
    owners,
    new Map([['ReplicaSet', replicaSets as unknown as Reflector]]),
  );
  pods.informer.wake();
  pods.run([]).catch(() => {});
  await vi.advanceTimersByTimeAsync(100);
  expect(isPending).toHaveBeenCalledWith(`${namespace}/web-1`);
  expect(update).not.toHaveBeenCalled();
  isPending.mockReturnValue(false);
  told[0]?.('of-web-1');
  await vi.advanceTimersByTimeAsync(0);
  expect(update).toHaveBeenCalledTimes(1);
});
