import { expect, test } from 'vitest';
import { encodeStored } from '../../../../apiserver/registry/codec.ts';
import { objectKey } from '../../../../apiserver/registry/keys.ts';
import { Controlled } from '../../../../apiserver/view/controlled.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import type { ListOptions, ListResult, Range, StoreEvent } from '../../../../storage/store.ts';

const sets = { group: 'apps', resource: 'replicasets', namespaced: true };
const place = { logical: 'root', namespace: 'shop' };
const set = (name: string, owner?: string, controller = true): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-of-${name}`,
    ...(owner && {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: owner, controller }],
    }),
  },
});

/** A store, and what is kept of it: which is told of its events by hand. */
function start() {
  const store = openMemory();
  const lists: (number | undefined)[] = [];
  const reading: { until?: Promise<void> } = {};
  const list = store.list.bind(store);
  store.list = async (range: Range, options: ListOptions = {}): Promise<ListResult> => {
    lists.push(options.limit);
    const found = await list(range, options);
    if (options.limit === undefined) await reading.until;
    return found;
  };
  const heard: { isOver: boolean; first?: (() => Promise<void>) | undefined } = { isOver: false };
  const controlled = new Controlled(store, async () => {
    const { first } = heard;
    heard.first = undefined;
    await first?.();
    return !heard.isOver;
  });
  const key = (name: string) => objectKey(sets, 'root', 'shop', name);
  const write = async (object: KubeObject): Promise<void> => {
    const at = key(object.metadata.name ?? '');
    const before = await store.get(at);
    const bytes = encodeStored(object);
    const entry = before ? await store.update(at, bytes, before.revision) : await store.create(at, bytes);
    controlled.feed({ type: 'put', entry, ...(before && { previous: before }) } as StoreEvent);
  };
  const remove = async (name: string): Promise<void> => {
    const before = await store.get(key(name));
    if (!before) return;
    const { revision } = await store.delete(before.key, before.revision);
    controlled.feed({ type: 'delete', entry: { ...before, revision }, previous: before } as StoreEvent);
  };
  const of = async (owner: string, namespace = 'shop') =>
    (await controlled.of(sets, { ...place, namespace }, owner)).map(({ metadata }) => metadata.name);
  return { lists, reading, heard, write, remove, of };
}

test('what an object controls is found by name among many, which are read once', async () => {
  const { lists, write, remove, of } = start();
  for (let i = 0; i < 50; i++) await write(set(`other-${i}`, `other-${i}`));
  await write(set('web-2', 'web'));
  await write(set('web-1', 'web'));
  expect(await of('web')).toEqual(['web-1', 'web-2']);
  await write(set('web-3', 'web'));
  await remove('web-1');
  expect(await of('web')).toEqual(['web-2', 'web-3']);
  expect(await of('other-7')).toEqual(['other-7']);
  expect(await of('nobody')).toEqual([]);
  expect(lists.filter((limit) => limit === undefined)).toHaveLength(1);
});

test('one that is let go, or adopted, is found under whom it has now', async () => {
  const { write, of } = start();
  await write(set('web-1', 'web'));
  expect(await of('web')).toEqual(['web-1']);
  await write(set('web-1', 'shop'));
  expect([await of('web'), await of('shop')]).toEqual([[], ['web-1']]);
  await write(set('web-1', 'web', false));
  await write(set('web-2'));
  expect([await of('web'), await of('shop'), await of('uid-of-web-2')]).toEqual([[], [], []]);
});

test('what changes while the others are read counts', async () => {
  const { reading, write, remove, of } = start();
  await write(set('web-1', 'web'));
  await write(set('web-2', 'web'));
  let go: () => void = () => undefined;
  reading.until = new Promise((resolve) => {
    go = resolve;
  });
  const found = of('web');
  await write(set('web-3', 'web'));
  await write(set('web-1', 'shop'));
  await remove('web-2');
  go();
  expect(await found).toEqual(['web-3']);
  expect(await of('shop')).toEqual(['web-1']);
});

test('where nothing is told any more, or the owner is called what no uid is, all are read', async () => {
  const { lists, heard, write, of } = start();
  await write(set('web-1', 'a"b'));
  await write(set('web-2', 'web'));
  expect(await of('a"b')).toEqual(['web-1']);
  heard.isOver = true;
  expect(await of('web')).toEqual(['web-2']);
  expect(lists.filter((limit) => limit === undefined)).toHaveLength(3);
});

test('what comes once so many other namespaces were asked for that this one is told nothing any more counts', async () => {
  const { heard, write, of } = start();
  await write(set('web-1', 'web'));
  heard.first = async () => {
    for (let i = 0; i < 1024; i++) await of('web', `other-${i}`);
    await write(set('web-2', 'web'));
  };
  expect(await of('web')).toEqual(['web-1', 'web-2']);
});
