import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeStored, encodeStored } from '../../../../apiserver/registry/codec.ts';
import { collectionRange, keyRange, objectKey } from '../../../../apiserver/registry/keys.ts';
import { joinedStore } from '../../../../apiserver/slices/store.ts';
import { newSlice, sliceName, slicesStored } from '../../../../cluster/slices.ts';
import type { ClusterSlice, Placement, SharePhase } from '../../../../cluster/types.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import type { Entry, Range, Store, StoreEvent } from '../../../../storage/store.ts';
import { eventually } from '../../../eventually.ts';

const placements = { group: 'atoll.dev', resource: 'placements', namespaced: true };
const there = (generation = 1): ClusterSlice => ({ present: true, observedGeneration: generation });
const gone: ClusterSlice = { present: false };
const everything = collectionRange(placements, '*', '');
const inShop = collectionRange(placements, 'root', 'shop');

let store: Store;
let joined: Store;
let life: AbortController;
beforeEach(() => {
  store = openMemory();
  joined = joinedStore(store);
  life = new AbortController();
});
afterEach(() => life.abort());

const keyOf = (name: string, namespace = 'shop') => objectKey(placements, 'root', namespace, name);

async function put(key: string, object: Parameters<typeof encodeStored>[0]): Promise<number> {
  const before = await store.get(key);
  const bytes = encodeStored(object);
  const entry = await (before ? store.update(key, bytes, before.revision) : store.create(key, bytes));
  return entry.revision;
}

async function remove(key: string): Promise<number> {
  return (await store.delete(key, (await store.get(key))?.revision ?? 0)).revision;
}

function made(name: string, shares: Record<string, SharePhase>, namespace = 'shop', uid = 'u'): Placement {
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name, uid };
  const all = Object.entries(shares).map(([cluster, phase]) => [cluster, { phase }] as const);
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name, namespace, uid: `${uid}-${namespace}-${name}` },
    spec: { ref, clusters: [], shares: Object.fromEntries(all) },
  };
}

function place(
  name: string,
  shares: Record<string, SharePhase> = { east: 'Active', west: 'Active' },
  inside = 'shop',
) {
  return put(keyOf(name, inside), made(name, shares, inside));
}

const sliceKey = (name: string, cluster: string, namespace = 'shop') =>
  objectKey(slicesStored, 'root', namespace, sliceName(name, cluster));

async function say(name: string, cluster: string, slice: ClusterSlice, namespace = 'shop'): Promise<number> {
  const entry = await store.get(keyOf(name, namespace));
  return put(
    sliceKey(name, cluster, namespace),
    newSlice(decodeStored(entry as Entry) as Placement, cluster, slice),
  );
}

const words = ({ key, value, revision, created }: Entry) => {
  const { status, metadata } = decodeStored({ key, value, revision, created }) as Placement;
  const said = Object.entries(status?.clusters ?? {}).map(
    ([c, { present, observedGeneration = '' }]) => `${c}${present ? `=${observedGeneration}` : '-'}`,
  );
  return `${metadata.name}@${revision} ${said.join()}`;
};

function follow(range: Range, after: number, of = joined) {
  const events: string[] = [];
  const sink = (all: readonly StoreEvent[]) => {
    for (const { type, entry, previous } of all)
      events.push(`${type} ${words(entry)}${previous ? ` < ${words(previous).replace(/@\d+/, '')}` : ''}`);
  };
  return of.watch(range, { after, sink, signal: life.signal }).then(() => events);
}

test('one is read with what its clusters say, as of one revision, which is that of the newest part', async () => {
  const placed = await place('web');
  expect(words((await joined.get(keyOf('web'))) as Entry)).toBe(`web@${placed} `);
  const first = await say('web', 'west', there());
  const second = await say('web', 'east', there(2));
  expect(words((await joined.get(keyOf('web'))) as Entry)).toBe(`web@${second} east=2,west=1`);
  expect(words((await joined.get(keyOf('web'), { revision: first })) as Entry)).toBe(`web@${first} west=1`);
  const own = await joinedStore(store, 'own').get(keyOf('web'));
  expect(words(own as Entry)).toBe(`web@${placed} east=2,west=1`);
  expect(await joined.get(keyOf('nothing'))).toBeUndefined();
});

test.each([
  ['all at once', {}],
  ['page by page', { limit: 10 }],
])('many are read as one is, %s', async (_how, options) => {
  for (const name of ['b', 'a.b', 'a', 'a-b']) await place(name);
  await place('a', undefined, 'other');
  for (const name of ['b', 'a.b', 'a']) await say(name, 'east', there());
  await say('a', 'west', there(7), 'other');
  const one = async (name: string, namespace?: string) =>
    words((await joined.get(keyOf(name, namespace))) as Entry);
  const own = [await one('a'), await one('a-b'), await one('a.b'), await one('b')];
  const { entries, revision } = await joined.list(inShop, options);
  expect(entries.map(words).sort()).toEqual(own.sort());
  expect(revision).toBe(store.revision);
  const all = (await joined.list(everything, options)).entries;
  expect(all.map(words).sort()).toEqual([...own, await one('a', 'other')].sort());
});

test('pages of one revision show what was said by then', async () => {
  for (const name of ['a', 'b']) await place(name);
  const at = await say('b', 'east', there(1));
  const page = await joined.list(inShop, { limit: 1 });
  await say('b', 'east', there(2));
  const next = await joined.list(inShop, {
    limit: 1,
    after: page.entries[0]?.key ?? '',
    revision: page.revision,
  });
  expect(next.entries.map(words)).toEqual([`b@${at} east=1`]);
});

test('a watch tells when either changes, each at its revision, and can be resumed after any of them', async () => {
  const begun = await place('web', { east: 'Active' });
  const live = await follow(inShop, begun);
  const steps = [
    await say('web', 'east', there(1)),
    await say('web', 'east', there(2)),
    await place('web', { east: 'Active', west: 'Joining' }),
    await say('web', 'west', there(3)),
    await place('api'),
    await remove(sliceKey('web', 'west')),
    await remove(keyOf('web')),
  ];
  const [a, b, c, d, e, f, g] = steps;
  const all = [
    `put web@${a} east=1 < web `,
    `put web@${b} east=2 < web east=1`,
    `put web@${c} east=2 < web east=2`,
    `put web@${d} east=2,west=3 < web east=2`,
    `put api@${e} `,
    `put web@${f} east=2 < web east=2,west=3`,
    `delete web@${g} east=2 < web east=2`,
  ];
  await eventually(() => expect(live).toEqual(all));
  for (const [i, after] of steps.entries()) {
    const told = await follow(inShop, after);
    await eventually(() => expect(told).toEqual(all.slice(i + 1)));
  }
});

test('it tells nothing of other namespaces, other objects, what is left over, and what is not shown', async () => {
  const after = await place('web', { east: 'Joining' });
  await say('web', 'east', gone);
  const leaves = await place('web', { east: 'Leaving' });
  const told = await follow(inShop, leaves);
  const one = await follow(keyRange(keyOf('web')), after);
  await place('web', undefined, 'other');
  await say('web', 'east', there(), 'other');
  await place('web.b');
  await say('web.b', 'east', there());
  await put('/core/configmaps/root/shop/web', made('web', {}));
  // Said before it was told to leave, it was not shown; nor that it goes.
  await remove(sliceKey('web', 'east'));
  await remove(keyOf('web'));
  const last = store.revision;
  await put(sliceKey('web', 'west'), newSlice(made('web', {}), 'west', there()));
  await eventually(() =>
    expect(told.map((line) => line.split('@')[0])).toEqual(['put web.b', 'put web.b', 'delete web']),
  );
  expect(one).toEqual([
    expect.stringMatching(/^put web@\d+ east- < web $/),
    expect.stringMatching(/^put web@\d+ {2}< web east-$/),
    expect.stringMatching(new RegExp(`^delete web@${last} `)),
  ]);
});

test('what was said goes with its share, at the revision of that: no read later has an earlier one', async () => {
  await place('web', { east: 'Leaving', west: 'Active' });
  await say('web', 'west', there());
  const said = await say('web', 'east', gone);
  const told = await follow(inShop, said);
  const read = async () => {
    const [one] = (await joined.list(inShop)).entries.map(words);
    expect(words((await joined.get(keyOf('web'))) as Entry)).toBe(one);
    return one;
  };
  expect(await read()).toBe(`web@${said} east-,west=1`);
  const left = await place('web', { west: 'Active' });
  expect(await read()).toBe(`web@${left} west=1`);
  await remove(sliceKey('web', 'east'));
  expect(await read()).toBe(`web@${left} west=1`);
  const last = await say('web', 'west', there(2));
  await eventually(() =>
    expect(told).toEqual([
      `put web@${left} west=1 < web east-,west=1`,
      `put web@${last} west=2 < web west=1`,
    ]),
  );
  const own = await joinedStore(store, 'own').get(keyOf('web'));
  expect(words(own as Entry)).toBe(`web@${left} west=2`);
});

test('what was said of a former one of the name is not shown', async () => {
  await place('web');
  await say('web', 'east', there());
  await remove(keyOf('web'));
  await put(keyOf('web'), made('web', { east: 'Joining' }, 'shop', 'another'));
  expect(words((await joined.get(keyOf('web'))) as Entry)).toMatch(/^web@\d+ $/);
  expect((await joined.list(inShop)).entries.map(words)).toEqual([expect.stringMatching(/^web@\d+ $/)]);
});

test('a revision that is forgotten fails as it does without', async () => {
  await place('web');
  await say('web', 'east', there());
  await say('web', 'east', there(2));
  await store.compact(store.revision);
  await expect(joined.watch(inShop, { after: 1, sink: () => {} })).rejects.toMatchObject({
    code: 'compacted',
  });
  await expect(joined.list(inShop, { revision: 1 })).rejects.toMatchObject({ code: 'compacted' });
  await expect(joined.watch(inShop, { after: 99, sink: () => {} })).rejects.toMatchObject({ code: 'future' });
});
