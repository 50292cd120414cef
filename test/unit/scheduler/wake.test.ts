import { describe, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { PhysicalCluster, Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import type { WorkQueue } from '../../../controller/queue.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { onlyBegins } from '../../../scheduler/matters.ts';
import { takeStock } from '../../../scheduler/stock.ts';
import { turnMs } from '../../../scheduler/turns.ts';
import { wake, wakeConcerned } from '../../../scheduler/wake.ts';
import { objectsOf, placementsIn } from '../../../scheduler/within.ts';
import { observe } from '../../../scheduler/world.ts';
import { Random } from '../../fault/random.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster } from './world.ts';

const annotations = { 'kcp.io/cluster': 'team' };

/** A Deployment web in the Namespace shop of the logical cluster team, placed so, and what is known of these clusters. */
function worldOf(
  spec: Partial<PlacementSpec>,
  clusters: readonly PhysicalCluster[],
  informers = new Map<string, Cache<KubeObject>>(),
) {
  const of = (resource: string) => {
    const cache = informers.get(resource) ?? new Cache<KubeObject>((error) => expect.fail(String(error)));
    informers.set(resource, cache);
    return cache;
  };
  const world = observe({
    for: ({ resource }: { resource: string }) =>
      Object.assign(of(resource), { hasSynced: true }) as unknown as Informer,
  } as never);
  const { object } = deployment('web', { metadata: { namespace: 'shop', annotations } });
  of('deployments').put(object);
  const uid = object.metadata.uid ?? '';
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: 'web', uid };
  const placement: Placement = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web.deployments.apps', namespace: 'shop', annotations },
    spec: { ref, clusters: ['b'], ...spec },
  };
  of('placements').put(placement);
  for (const one of clusters)
    of('physicalclusters').put({
      ...one,
      metadata: { ...one.metadata, annotations: { 'kcp.io/cluster': 'root' } },
    });
  return world;
}

describe('a cluster that changes wakes', () => {
  test.each<[string, Partial<PlacementSpec>, readonly string[]]>([
    ['who is to be there', { clusters: ['a'] }, ['team//shop']],
    ['who asks for it', { wanted: ['a'] }, ['team//shop']],
    ['who is nowhere', { clusters: [] }, ['team//shop']],
    ['who is still there', { shares: { a: { phase: 'Leaving' } } }, ['team//shop']],
    ['nobody else', { shares: { b: { phase: 'Active' } } }, []],
  ])('%s', (_what, spec, expected) => {
    const woken = new Set<string>();
    wakeConcerned(worldOf(spec, []), { add: (key) => woken.add(key) }, cluster('a'));
    expect([...woken]).toEqual(expected);
  });
});

test('and that is whom a walk over all Placements finds', () => {
  const names = ['a', 'b', 'c', 'd'];
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Random(seed);
    const some = (chance: number) => names.filter(() => random.chance(chance));
    const shares = Object.fromEntries(some(0.3).map((name): [string, Share] => [name, { phase: 'Active' }]));
    const spec = { clusters: some(0.4), wanted: some(0.2), shares };
    const clusters = names.map((name) =>
      cluster(name, {
        drain: random.chance(0.1),
        rebalance: random.chance(0.1),
        ...(random.chance(0.1) && {
          taints: [{ key: 'k', effect: random.pick(['NoExecute', 'NoSchedule']) }],
        }),
      }),
    );
    const unhappy = clusters.filter(
      (one) =>
        one.spec?.drain || one.spec?.rebalance || one.spec?.taints?.some((t) => t.effect === 'NoExecute'),
    );
    const isStuck = unhappy.some((one) => spec.clusters.includes(one.metadata.name ?? ''));
    const isNamed = [...spec.clusters, ...spec.wanted, ...Object.keys(shares)].includes('a');
    const expected = spec.clusters.length === 0 || isStuck || isNamed ? ['team//shop'] : [];
    const woken = new Set<string>();
    wakeConcerned(worldOf(spec, clusters), { add: (key) => woken.add(key) }, cluster('a'));
    expect([...woken], `seed ${seed}`).toEqual(expected);
  }
});

describe('at the start those count who leave', () => {
  const now = Date.now();
  const since = (ms: number) => ({ a: new Date(now - ms).toISOString() });
  const shares = { a: { phase: 'Leaving' }, b: { phase: 'Active' } } as const;
  test.each<[string, Partial<PlacementSpec>, boolean, number]>([
    ['in a turn', { shares, leavingSince: since(turnMs / 2) }, true, 1],
    ['not in one that has ended', { shares, leavingSince: since(2 * turnMs) }, true, 0],
    ['not what has arrived, of one that does not answer', { shares, leavingSince: since(0) }, false, 0],
    ['not what stays', { shares, clusters: ['a', 'b'] }, true, 0],
  ])('%s', (_what, spec, ready, expected) => {
    const world = worldOf(spec, [cluster('a', { ready }), cluster('b')]);
    takeStock(world);
    expect(world.leavers.others('').get('a') ?? 0).toBe(expected);
  });
});

describe('a word that is said later of a claim wakes its Namespace', () => {
  const claim = (name: string, more: Record<string, string>, status?: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'shop', uid: name, annotations: { ...annotations, ...more } },
    ...(status && { status }),
  });
  const requires = [{ group: '', resource: 'persistentvolumeclaims', name: 'files' }];
  test.each<[string, string, Record<string, string>]>([
    ['that is shown from a cluster', 'data-web-0', reflectedAs({}, 'data-web-0', ['b'])],
    ['that is placed', 'files', {}],
  ])('%s', (_what, name, marks) => {
    const informers = new Map<string, Cache<KubeObject>>();
    const world = worldOf({ requires }, [cluster('b')], informers);
    const claims = informers.get('persistentvolumeclaims');
    claims?.put(claim(name, marks, { phase: 'Bound' }));
    objectsOf(world, 'team//shop', placementsIn(world, 'team//shop'));
    const woken: string[] = [];
    const queue = { add: (key: string) => woken.push(key), addAfter: (key: string) => woken.push(key) };
    wake(world, queue as unknown as WorkQueue);
    woken.length = 0;
    claims?.put(claim(name, { ...marks, 'atoll.dev/volumes': 'copy' }, { phase: 'Bound' }));
    expect(woken).toContain('team//shop');
  });
});

describe('the labels of its nodes change: of those whom a cluster concerns that wakes', () => {
  const onSsd = { nodeSelector: { disk: 'ssd' } };
  const labelled = (...nodeLabels: string[]): PhysicalCluster => {
    const { status, ...rest } = cluster('a');
    const metadata = { ...rest.metadata, annotations: { 'kcp.io/cluster': 'root' } };
    return { ...rest, metadata, status: { ...status, nodeLabels } };
  };
  test.each<[string, object, Partial<PlacementSpec>, PhysicalCluster, string[]]>([
    ['who asks for a node', onSsd, { clusters: ['a'] }, labelled('disk=ssd'), ['team//shop']],
    ['nobody who asks for none', {}, { clusters: ['a'] }, labelled('disk=ssd'), []],
    ['nobody elsewhere', onSsd, { shares: { b: { phase: 'Active' } } }, labelled('disk=ssd'), []],
    ['nobody, where they are as before', onSsd, { clusters: ['a'] }, labelled('disk=hdd'), []],
  ])('%s', (_what, podSpec, spec, now, expected) => {
    const informers = new Map<string, Cache<KubeObject>>();
    const world = worldOf(spec, [labelled('disk=hdd')], informers);
    informers
      .get('deployments')
      ?.put(deployment('web', { podSpec, metadata: { namespace: 'shop', annotations } }).object);
    const woken: string[] = [];
    const queue = { add: (key: string) => woken.push(key), addAfter: (key: string) => woken.push(key) };
    wake(world, queue as unknown as WorkQueue);
    woken.length = 0;
    informers.get('physicalclusters')?.put(now);
    expect(woken).toEqual(expected);
  });
});

describe('a Placement in which only something begins', () => {
  const placed = (spec: Partial<PlacementSpec>): Placement => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web.deployments.apps', namespace: 'shop' },
    spec: { clusters: ['a'], ...spec } as PlacementSpec,
  });
  const active: Share = { phase: 'Active' };
  const leaving: Share = { phase: 'Leaving' };
  test.each<[string, Partial<PlacementSpec>, Partial<PlacementSpec>, boolean]>([
    ['a share comes', {}, { shares: { a: active } }, true],
    ['its replicas change', { shares: { a: active } }, { shares: { a: { ...active, replicas: 3 } } }, true],
    ['a share is to leave', { shares: { a: active } }, { shares: { a: leaving } }, false],
    ['a share has left', { shares: { a: active, b: active } }, { shares: { a: active } }, false],
    ['one that was to leave has left', { shares: { a: leaving } }, { shares: {} }, false],
    ['it is to be elsewhere', { shares: { a: active } }, { shares: { a: active }, clusters: ['b'] }, false],
  ])('%s: %s', (_what, before, after, expected) => {
    expect(onlyBegins(placed(after), placed(before))).toBe(expected);
  });
});
