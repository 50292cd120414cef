import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Paths } from '../../../../apiserver/registry/paths.ts';
import { Roles } from '../../../../apiserver/registry/roles.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { type Store, StoreError, type WatchOptions } from '../../../../storage/store.ts';

const key = '/rbac.authorization.k8s.io/clusterroles/a/mine';
const role = {
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name: 'mine' },
  rules: [],
};
const bytes = (object: object) => Buffer.from(JSON.stringify(object));

/** Says nothing more until it ends, as the watch of a store that is away; then all is listed anew. */
let cut: () => void;
let store: Store;
let stop: AbortController;
let paths: Paths;
let roles: Roles;
let lists = 0;
beforeEach(async () => {
  vi.useFakeTimers();
  [store, stop, lists] = [openMemory(), new AbortController(), 0];
  const deaf = new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name === 'watch')
        return async (_: unknown, { onEnd }: WatchOptions) => {
          cut = () => onEnd?.(new StoreError('unavailable', 'away'));
          return () => {};
        };
      if (name === 'list') lists++;
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  paths = new Paths(deaf);
  await paths.follow(stop.signal);
  roles = new Roles();
  await roles.follow(deaf, stop.signal);
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
  return store.close();
});

const isKnown = () => typeof roles.index.rules('a', { kind: 'ClusterRole', name: 'mine' }, '') !== 'string';
const again = async () => {
  cut();
  await vi.advanceTimersByTimeAsync(1000);
};

test('what this server wrote and another deleted, unheard of, is gone when all is listed anew', async () => {
  const { revision } = await store.create(key, bytes(role));
  roles.wrote(key, role, revision);
  expect(isKnown()).toBe(true);
  await again();
  expect(isKnown()).toBe(true);
  const other = await store.create(`${key}-too`, bytes(role));
  roles.wrote(`${key}-too`, role, other.revision);
  await store.delete(`${key}-too`, other.revision);
  await store.delete(key, revision);
  await again();
  expect(isKnown()).toBe(false);
  expect(typeof roles.index.rules('a', { kind: 'ClusterRole', name: 'mine-too' }, '')).toBe('string');
});

test('a write that is told of after a list that is newer counts no more', async () => {
  const { revision } = await store.create(key, bytes(role));
  await store.delete(key, revision);
  await again();
  roles.wrote(key, role, revision);
  expect(isKnown()).toBe(false);
});

test('a write that is newer than the list stays', async () => {
  const { revision } = await store.create('/other/things/a/b', bytes({}));
  roles.wrote(key, role, revision + 5);
  await again();
  expect(isKnown()).toBe(true);
});

test('a path that was looked up leads nowhere once its Workspace is gone', async () => {
  const at = '/tenancy.kcp.io/workspaces/root/team';
  const workspace = { metadata: { name: 'team' }, spec: { cluster: 'abcdef' } };
  const { revision } = await store.create(at, bytes(workspace));
  expect(await paths.lookUp('root:team')).toBe('abcdef');
  await store.delete(at, revision);
  // Each follower has a watch of its own.
  const before = lists;
  stop.abort();
  stop = new AbortController();
  await paths.follow(stop.signal);
  expect([lists - before, await paths.resolve('root:team')]).toEqual([1, undefined]);
});
