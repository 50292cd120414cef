import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { fencedStore } from '../../../../apiserver/fenced.ts';
import { dropSlice, writeSlice } from '../../../../apiserver/view/slices.ts';
import { Client } from '../../../../client/client.ts';
import { splitterUser } from '../../../../cluster/names.ts';
import type { ClusterSlice, Placement, Share, ShareView } from '../../../../cluster/types.ts';
import * as json from '../../../../kube/json.ts';
import type { StatusError } from '../../../../kube/status.ts';
import type { Fence, Store, StoreEvent } from '../../../../storage/store.ts';
import { until } from '../../../world/objects.ts';
import { active, deployment, logical, namespace, placementKey, Upstream } from './upstream.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
const leaving: Share = { phase: 'Leaving' };
const everywhere = Object.fromEntries(names.map((name): [string, Share] => [name, active]));
const [root, ref] = deployment('web');
const name = 'web.deployments.apps';
const sliceKey = (cluster: string) =>
  `${placementKey(ref).replace('/placements/', '/placementslices/')}~${cluster}`;

let upstream: Upstream;
let life: AbortController;
beforeEach(async () => {
  upstream = await Upstream.make(...names);
  life = new AbortController();
  setMaxListeners(0, life.signal);
  await upstream.place(root, ref, everywhere);
});
afterEach(() => {
  life.abort();
  vi.restoreAllMocks();
});

const addressOf = (cluster: string) => ({ logical, namespace, name, cluster });
const heard = (generation: number): ClusterSlice => ({ present: true, observedGeneration: generation });
const gone: ClusterSlice = { present: false };
const write = (cluster: string, slice = heard(1), store = upstream.store as Store) =>
  writeSlice(store, addressOf(cluster), slice);
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 200,
    (error: StatusError) => error.code,
  );
const said = () => upstream.said(ref);
const revisionOf = async (cluster: string) => (await upstream.store.get(sliceKey(cluster)))?.revision ?? 0;

/** What is written from now on: an event of the store each. */
async function writes(): Promise<StoreEvent[]> {
  const all: StoreEvent[] = [];
  const { revision: after } = upstream.store;
  const sink = (events: readonly StoreEvent[]) => void all.push(...events);
  await upstream.store.watch({ start: '', end: '\x7f' }, { after, signal: life.signal, sink });
  return all;
}

test('a word is one small write of its own, however many clusters have a share, and none of the Placement', async () => {
  await Promise.all(names.map((cluster) => write(cluster)));
  const all = await writes();
  await write('c7', heard(2));
  await until('it is told', () => all.length > 0);
  expect(all.map(({ entry }) => entry.key)).toEqual([sliceKey('c7')]);
  expect(all[0]?.entry.value.length).toBeLessThan(400);
  expect(Object.keys(await said()).sort()).toEqual([...names].sort());
  expect((await said())['c7']).toEqual(heard(2));
  expect((await upstream.read<Placement>(placementKey(ref)))?.status).toBeUndefined();
});

test('who speaks twice is heard as it said last, and the same again is no write', async () => {
  await Promise.all([1, 2, 3].map((generation) => write('c1', heard(generation))));
  await write('c1', heard(3));
  expect(await said()).toEqual({ c1: heard(3) });
  const { revision } = upstream.store;
  await Promise.all(['c1', 'c1', 'c1'].map((cluster) => write(cluster, heard(3))));
  expect(upstream.store.revision).toBe(revision);
});

test.each<[string, Record<string, Share>, ClusterSlice | undefined, ClusterSlice, number, object]>([
  ['first', { c1: active }, undefined, heard(1), 200, { c1: heard(1) }],
  ['once more', { c1: active }, heard(1), heard(2), 200, { c1: heard(2) }],
  ['that it is absent', { c1: active }, heard(1), gone, 200, { c1: gone }],
  ['without a share and a slice', {}, undefined, heard(1), 404, {}],
  ['that what was left over is still there', {}, heard(1), heard(2), 200, { c1: heard(2) }],
  ['that what was left over is absent', {}, heard(1), gone, 200, {}],
  ['that what nobody knows is absent', {}, undefined, gone, 404, {}],
])('what a cluster says %s', async (_what, now, before, slice, answer, left) => {
  if (before) await write('c1', before);
  await upstream.shares(ref, now);
  expect(await code(write('c1', slice))).toBe(answer);
  expect(await said()).toEqual(left);
});

test('where a claim is bound is in its Placement before it is said, and no longer than that', async () => {
  const metadata = { name: 'data', namespace, uid: 'data-uid' };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
  const of = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: claim.kind };
  const claimRef = { ...of, name: 'data', uid: metadata.uid };
  const address = (cluster: string) => ({ logical, namespace, name: 'data.persistentvolumeclaims', cluster });
  const say = (cluster: string, phase: string) =>
    writeSlice(upstream.store, address(cluster), { present: true, status: { phase } });
  const bound = async () => (await upstream.read<Placement>(placementKey(claimRef)))?.status?.bound;
  const slice = `${placementKey(claimRef).replace('/placements/', '/placementslices/')}~c1`;
  await upstream.place(claim, claimRef, { c1: active, c2: active });
  const all = await writes();
  let told = upstream.store.revision;
  const keys = async () => {
    const last = () => all.at(-1)?.entry.revision ?? told;
    await until('all is told', () => last() >= upstream.store.revision);
    told = last();
    return all.splice(0).map(({ entry }) => entry.key);
  };
  await say('c1', 'Bound');
  expect([await keys(), await bound()]).toEqual([[placementKey(claimRef), slice], ['c1']]);
  await say('c1', 'Bound');
  expect(await keys()).toEqual([]);
  await say('c1', 'Pending');
  expect([await keys(), await bound()]).toEqual([[slice, placementKey(claimRef)], undefined]);
  expect(await code(say('c3', 'Bound'))).toBe(404);
  expect([await keys(), await bound()]).toEqual([[], undefined]);
});

test('of a Placement that is gone nothing is said, and of one that was made anew only what is said then', async () => {
  await write('c1', heard(1));
  await upstream.remove(placementKey(ref));
  expect(await code(write('c1', heard(2)))).toBe(404);
  await upstream.place(root, ref, everywhere);
  await write('c1', heard(1));
  const { uid } = (await upstream.read<Placement>(placementKey(ref)))?.metadata ?? {};
  expect(await upstream.read(sliceKey('c1'))).toMatchObject({ spec: { placement: { uid } } });
});

test('that it is absent is said anew of what is told to leave, and shown to its cluster only then', async () => {
  const client = upstream.client('c1');
  const shown = async () => (await client.list<ShareView>(shares)).items[0]?.status;
  await write('c1', gone);
  expect(await shown()).toEqual(gone);
  await upstream.shares(ref, { ...everywhere, c1: leaving });
  expect(await shown()).toBeUndefined();
  const { revision } = upstream.store;
  await write('c1', gone);
  expect(upstream.store.revision).toBe(revision + 1);
  expect(await shown()).toEqual(gone);
  await write('c1', gone);
  expect(upstream.store.revision).toBe(revision + 1);
});

test('a writer is told as of which state of the Placement it was heard: never a later one than was looked at', async () => {
  const get = upstream.store.get.bind(upstream.store);
  let changes = 1;
  // While it writes, the share is told to leave: after that was read.
  vi.spyOn(upstream.store, 'get').mockImplementation(async (key, options) => {
    const entry = await get(key, options);
    if (key === placementKey(ref) && changes-- > 0)
      await upstream.shares(ref, { ...everywhere, c1: leaving });
    return entry;
  });
  const { revision } = await write('c1', gone);
  vi.restoreAllMocks();
  const told = Number(
    (await upstream.client('c1').list<ShareView>(shares)).items[0]?.metadata.resourceVersion,
  );
  expect(told).toBeGreaterThan(revision);
});

test("of clusters with leases are written by each one's own", async () => {
  const leases = await Promise.all(names.map((name) => upstream.store.acquire(`syncer-${name}`, 60_000)));
  const stores = leases.map((lease) => fencedStore(upstream.store, lease as Fence));
  await leases[0]?.release();
  const answers = await Promise.allSettled(names.map((cluster, i) => write(cluster, heard(1), stores[i])));
  expect(answers.map(({ status }) => status)).toEqual(
    names.map((_, i) => (i === 0 ? 'rejected' : 'fulfilled')),
  );
  expect(Object.keys(await said()).sort()).toEqual(names.slice(1).sort());
});

test('a word is taken back as it was read, and not the one that came since', async () => {
  await write('c1', heard(1));
  const read = await revisionOf('c1');
  await write('c1', heard(2));
  expect(await code(dropSlice(upstream.store, addressOf('c1'), read))).toBe(409);
  expect(await said()).toEqual({ c1: heard(2) });
  expect(await code(dropSlice(upstream.store, addressOf('c1'), await revisionOf('c1')))).toBe(200);
  expect(await said()).toEqual({});
  expect(await code(dropSlice(upstream.store, addressOf('c1'), read))).toBe(200);
});

test('by the splitter alone, also of a cluster that is forgotten, and only as it says which', async () => {
  await write('c1', heard(1));
  const resourceVersion = String(await revisionOf('c1'));
  const at = { cluster: logical, namespace, name, subresource: 'status' };
  const how = { preconditions: { resourceVersion } };
  const prefix = '/syncers/c1';
  const of = (user: Parameters<Upstream['transport']>[0]) => new Client(upstream.transport(user), { prefix });
  const masters = { name: 'admin', groups: ['system:masters'] };
  const others = [upstream.client('c1'), of(masters), of({ name: splitterUser, groups: ['system:masters'] })];
  for (const other of others) expect(await code(other.delete(shares, at, how))).toBe(403);
  const splitter = of(ownUser(splitterUser));
  expect(await code(splitter.delete(shares, at))).toBe(400);
  expect(await code(splitter.patch(shares, at, 'merge', { status: gone }))).toBe(403);
  expect(await said()).toEqual({ c1: heard(1) });
  await upstream.remove('/atoll.dev/physicalclusters/root/c1');
  expect(await code(splitter.delete(shares, at, how))).toBe(200);
  expect(await said()).toEqual({});
});

test('are told nobody, and cost the other clusters of the workload nothing; what is told next shows them', async () => {
  const views = names.map((cluster) => ({ cluster, events: [] as ShareView[] }));
  for (const { cluster, events } of views) {
    const client = upstream.client(cluster);
    const { resourceVersion = '' } = (await client.list(shares)).metadata;
    void (async () => {
      for await (const { object } of client.watch<ShareView>(shares, {
        resourceVersion,
        signal: life.signal,
      }))
        events.push(object);
    })();
  }
  const say = async (generation: number) => {
    for (const { cluster } of views)
      await upstream
        .client(cluster)
        .patch(shares, { cluster: logical, namespace, name, subresource: 'status' }, 'merge', {
          status: heard(generation),
        } as object);
  };
  const changed = (replicas: number) =>
    upstream.shares(ref, Object.fromEntries(names.map((c): [string, Share] => [c, { ...active, replicas }])));
  const all = (count: number) =>
    until(`${count} events`, () => views.every(({ events }) => events.length === count));
  await changed(1);
  await all(1);
  const encoded = vi.spyOn(json, 'encodeJson');
  await say(7);
  const { length: calls } = encoded.mock.calls;
  await changed(2);
  await all(2);
  expect(views.map(({ events }) => events.at(-1)?.status)).toEqual(views.map(() => heard(7)));
  expect(calls).toBeLessThanOrEqual(3 * views.length);
});
