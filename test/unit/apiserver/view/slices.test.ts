import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fencedStore } from '../../../../apiserver/fenced.ts';
import { Slices } from '../../../../apiserver/view/slices.ts';
import type { ClusterSlice, Placement, Share, ShareView } from '../../../../cluster/types.ts';
import * as json from '../../../../kube/json.ts';
import type { StatusError } from '../../../../kube/status.ts';
import { type Fence, type Store, StoreError } from '../../../../storage/store.ts';
import { until } from '../../../world/objects.ts';
import { active, deployment, logical, namespace, placementKey, Upstream } from './upstream.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
const everywhere = Object.fromEntries(names.map((name): [string, Share] => [name, active]));
const [root, ref] = deployment('web');
const name = 'web.deployments.apps';

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

const stored = () => upstream.read<Placement>(placementKey(ref));
const heard = (generation: number): ClusterSlice => ({ present: true, observedGeneration: generation });
const write = (slices: Slices, cluster: string, slice = heard(1), store = upstream.store as Store) =>
  slices.write(store, { logical, namespace, name, cluster }, slice);
const outcome = (promise: Promise<Placement>) =>
  promise.then(
    ({ status }) => Object.keys(status?.clusters ?? {}).length,
    (error: StatusError | StoreError) => error.code,
  );

test('of a hundred that come at once by one store are written in two writes, and each is answered with its own in place', async () => {
  const slices = new Slices();
  const update = vi.spyOn(upstream.store, 'update');
  const written = await Promise.all(names.map((cluster) => write(slices, cluster)));
  expect(update).toHaveBeenCalledTimes(2);
  for (const [i, cluster] of names.entries())
    expect(written[i]?.status?.clusters?.[cluster]).toEqual(heard(1));
  expect(Object.keys((await stored())?.status?.clusters ?? {}).sort()).toEqual([...names].sort());
  expect((await stored())?.spec?.shares).toEqual(everywhere);
});

test('of one cluster that speaks twice are as it said last, and the same again is no write', async () => {
  const slices = new Slices();
  await Promise.all([1, 2, 3].map((generation) => write(slices, 'c1', heard(generation))));
  expect((await stored())?.status?.clusters).toEqual({ c1: heard(3) });
  const { revision } = upstream.store;
  await Promise.all(['c1', 'c1', 'c1'].map((cluster) => write(slices, cluster, heard(3))));
  expect(upstream.store.revision).toBe(revision);
});

test('of a cluster that has nothing of it are refused, and those that come with them are not', async () => {
  const slices = new Slices();
  const asked = ['c1', 'c2', 'nobody', 'c3', 'else'];
  expect(await Promise.all(asked.map((cluster) => outcome(write(slices, cluster))))).toEqual([
    1, 3, 404, 3, 404,
  ]);
  await upstream.remove(placementKey(ref));
  expect(await Promise.all(asked.map((cluster) => outcome(write(slices, cluster))))).toEqual(
    asked.map(() => 404),
  );
});

test("of clusters with leases are written by each one's own, and in turn", async () => {
  const slices = new Slices();
  const leases = await Promise.all(names.map((name) => upstream.store.acquire(`syncer-${name}`, 60_000)));
  const stores = leases.map((lease) => fencedStore(upstream.store, lease as Fence));
  await leases[0]?.release();
  const update = vi.spyOn(upstream.store, 'update');
  const answers = await Promise.allSettled(
    names.map((cluster, i) => write(slices, cluster, heard(1), stores[i])),
  );
  expect(answers.map(({ status }) => status)).toEqual(
    names.map((_, i) => (i === 0 ? 'rejected' : 'fulfilled')),
  );
  expect(Object.keys((await stored())?.status?.clusters ?? {}).sort()).toEqual(names.slice(1).sort());
  expect(update).toHaveBeenCalledTimes(names.length);
});

test('that the store does not take together are written each by itself', async () => {
  const slices = new Slices();
  const { store } = upstream;
  const update = store.update.bind(store);
  vi.spyOn(store, 'update').mockImplementation((key, value, expected) => {
    if (Buffer.from(value).includes('"c2":{"present"')) throw new StoreError('too-large', 'too much');
    return update(key, value, expected);
  });
  const asked = ['c1', 'c2', 'c3', 'c4'];
  const answers = await Promise.allSettled(asked.map((cluster) => write(slices, cluster)));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(Object.keys((await stored())?.status?.clusters ?? {})).toEqual(['c1', 'c3', 'c4']);
});

test('are told nobody, and cost the other clusters of the workload nothing; what is told next shows them', async () => {
  const views = names.slice(0, 10).map((cluster) => ({ cluster, events: [] as ShareView[] }));
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
