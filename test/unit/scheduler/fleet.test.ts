import { expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import { whyNotTaken } from '../../../cluster/identity.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { labelSelectorFromObject } from '../../../kube/selector.ts';
import { decideNamespace } from '../../../scheduler/decide.ts';
import { fleetOf, followFleet, notTaken } from '../../../scheduler/fleet.ts';
import { Random } from '../../fault/random.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, namespace } from './world.ts';

const registered = (name: string, clusterUID: string, creationTimestamp = '', ready = true) => {
  const made = cluster(name, { ready });
  return {
    ...made,
    metadata: { ...made.metadata, creationTimestamp },
    status: { ...made.status, clusterUID },
  };
};

test('what is not taken is what a comparison of each with each finds', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const all = Array.from({ length: random.between(1, 12) }, (_, i) =>
      registered(
        `c${i}`,
        random.pick(['', 'u1', 'u2', 'u3', 'own']),
        random.pick(['2026-01-01', '2026-01-02']),
        random.chance(0.7),
      ),
    );
    const isOwn = (uid: string) => uid === 'own';
    const slow = all.flatMap((one): [string, string][] => {
      const why = whyNotTaken(one, all, isOwn);
      return why === undefined ? [] : [[one.metadata.name ?? '', why]];
    });
    expect(notTaken(all, isOwn), `seed ${seed}`).toEqual(new Map(slow));
  }
});

test('what is named and given up is said to be so, not to be no cluster', () => {
  const given = {
    ...cluster('b', { forget: true }),
    metadata: { name: 'b', deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  const clusters = [cluster('a'), given];
  const metadata = { annotations: { 'atoll.dev/clusters': 'b,c', 'atoll.dev/placed-by': 'ann' } };
  const { create } = decideNamespace({
    namespace: namespace(),
    objects: [deployment('web', { metadata })],
    placements: [],
    clusters,
    notTaken: notTaken(clusters, () => false),
    usage: new Map(),
    now: 0,
  });
  expect(create[0]?.spec?.reasons).toEqual({
    b: 'it is being removed, and given up',
    c: 'there is no physical cluster of this name',
  });
});

test('what is known of clusters is made anew when one of them changes, or whose they are, and only then', () => {
  const clusters = new Cache<PhysicalCluster>((error) => expect.fail(String(error)));
  const namespaces = new Cache<KubeObject>((error) => expect.fail(String(error)));
  let own = '';
  const known = followFleet(
    Object.assign(clusters, { list: () => [...clusters.values()] }) as unknown as Informer<PhysicalCluster>,
    namespaces as unknown as Informer,
    (uid) => uid === own,
  );
  clusters.put(registered('a', 'u1', '2026-01-01'));
  clusters.put(registered('b', 'u2', '2026-01-01'));
  const first = known();
  expect([...first.fleet.named.keys()]).toEqual(['a', 'b']);
  expect(known()).toBe(first);
  namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  expect(known()).toBe(first);
  clusters.put(registered('b', 'u1', '2026-01-02'));
  expect([...known().notTaken.keys()]).toEqual(['b']);
  own = 'u1';
  namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  expect([...known().notTaken.keys()]).toEqual(['a', 'b']);
  clusters.remove(registered('a', 'u1'));
  expect([...known().fleet.named.keys()]).toEqual(['b']);
});

test('a policy is asked once about each cluster, however many workloads it selects, until the clusters change', () => {
  let asked = 0;
  const matcher = labelSelectorFromObject({ matchLabels: { pool: 'wide' } });
  const labels = Object.assign(Object.create(matcher), {
    matches: (of: Record<string, string> | undefined) => {
      asked += 1;
      return matcher.matches(of);
    },
  });
  const clusters = Array.from({ length: 40 }, (_, i): PhysicalCluster => {
    const made = cluster(`c${i}`);
    return { ...made, metadata: { ...made.metadata, labels: { pool: i < 10 ? 'wide' : 'narrow' } } };
  });
  const objects = ['a', 'b', 'c'].map((name) => deployment(name, { metadata: { namespace: 'shop' } }));
  const said = { source: 'PlacementPolicy wide', isPolicy: true, labels, exclude: [], count: 'all' as const };
  const policies = [[{ priority: 0, name: 'wide', said, selects: () => true }]];
  const input = { namespace: namespace(), objects, placements: [], policies, usage: new Map(), now: 0 };
  const decide = (all: PhysicalCluster[], fleet = fleetOf(all)) =>
    decideNamespace({ ...input, clusters: all, fleet }).create.map(({ spec }) => spec?.clusters);
  const wide = Array.from({ length: 10 }, (_, i) => `c${i}`);
  const fleet = fleetOf(clusters);
  expect(decide(clusters, fleet)).toEqual([wide, wide, wide]);
  expect(decide(clusters, fleet)).toEqual([wide, wide, wide]);
  expect(asked).toBe(clusters.length);
  const one = { ...clusters[9], metadata: { name: 'c9', labels: { pool: 'narrow' } } } as PhysicalCluster;
  const less = wide.slice(0, 9);
  expect(decide(clusters.with(9, one))).toEqual([less, less, less]);
});
