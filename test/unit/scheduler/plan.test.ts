import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refKey } from '../../../cluster/closure.ts';
import type { PhysicalCluster, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { consider } from '../../../scheduler/consider.ts';
import { type Changed, worldOf } from '../../../scheduler/copy.ts';
import { planOf } from '../../../scheduler/plan.ts';
import type { PlannedItem } from '../../../scheduler/plan-items.ts';
import { whyOf } from '../../../scheduler/plan-words.ts';
import { takeStock } from '../../../scheduler/stock.ts';
import { countsOf } from '../../../server/plan-counts.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { Stored } from './stored.ts';
import { cluster } from './world.ts';

const names = ['a', 'b', 'c'];
const physical = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };

const wish = fc.option(fc.subarray(names, { minLength: 1 }), { nil: undefined });
const app = fc.record({
  logical: fc.constantFrom('root', 'one'),
  namespace: fc.constantFrom('shop', 'desk'),
  name: fc.constantFrom('x', 'y', 'z'),
  replicas: fc.integer({ min: 1, max: 3 }),
  wish,
});
const place = fc.record({
  unschedulable: fc.boolean(),
  drain: fc.constantFrom(false, false, false, true),
  ready: fc.constantFrom(true, true, false),
  // Nothing fits, or all: where room is short it is a matter of who is asked first, and of what leaves meanwhile.
  capacity: fc.option(fc.record({ pods: fc.constantFrom('0', '100') }), { nil: undefined }),
});
type App = typeof app extends fc.Arbitrary<infer T> ? T : never;

function objectOf({ logical, namespace, name, replicas, wish: clusters }: App): KubeObject {
  const { object } = deployment(name, { replicas });
  const annotations = {
    'kcp.io/cluster': logical,
    ...(clusters && { 'atoll.dev/clusters': clusters.join(), 'atoll.dev/placed-by': 'ann' }),
  };
  const uid = `${logical}-${namespace}-${name}`;
  return { ...object, metadata: { ...object.metadata, namespace, uid, annotations } };
}

function clusterOf(
  name: string,
  { capacity, ...fields }: typeof place extends fc.Arbitrary<infer T> ? T : never,
) {
  return cluster(name, { ...fields, ...(capacity && { capacity }) }) as PhysicalCluster & KubeObject;
}

test('a plan is what the scheduler then does, in any world', async () => {
  const moved = { count: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(place, place, place),
      fc.array(app, { maxLength: 8 }),
      fc.oneof(fc.tuple(fc.constantFrom(...names), place), app),
      async (places, apps, change) => {
        const stored = new Stored();
        places.forEach((one, i) => void stored.put('physicalclusters', clusterOf(names[i] ?? '', one)));
        for (const logical of ['root', 'one'])
          for (const name of ['shop', 'desk']) {
            const metadata = { name, uid: `${logical}-${name}`, annotations: { 'kcp.io/cluster': logical } };
            stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
          }
        for (const one of apps) stored.put('deployments', objectOf(one));
        stored.decide();
        stored.settle();
        stored.decide();
        const before = stored.where();
        const changed = Array.isArray(change)
          ? { resource: physical, object: clusterOf(...change) }
          : { resource: { group: 'apps', version: 'v1', resource: 'deployments' }, object: objectOf(change) };
        stored.put(changed.resource.resource, changed.object);
        const items = await planOf(worldOf(stored.of), [changed], { countsOf });
        stored.decide();
        const after = stored.where();
        const keyOf = (item: PlannedItem) => {
          const [resource = '', name = ''] = item.object.split('/');
          const [plural = '', ...group] = resource.split('.');
          return `${item.logicalCluster}/${item.namespace}/${refKey({ group: group.join('.'), resource: plural, name })}`;
        };
        const planned = new Map(items.map((item) => [keyOf(item), item.to.join()]));
        for (const [key, to] of after) {
          if (planned.has(key)) expect(planned.get(key)).toBe(to);
          else expect(to, key).toBe(before.get(key));
          if (before.get(key) !== to) moved.count++;
        }
      },
    ),
    { numRuns: 300 },
  );
  // It was about something.
  expect(moved.count).toBeGreaterThan(20);
});

const one = { 'kcp.io/cluster': 'one' };
const apps = { group: 'apps', version: 'v1', resource: 'deployments' };
type Counts = Record<string, number>;

/** `web` as it was placed with these replicas and annotations, and what becomes of it with others. */
async function plannedOf(
  kind: 'Deployment' | 'StatefulSet',
  [replicas, annotations]: [number, object],
  [then, other]: [number, object],
  room: Counts = {},
): Promise<PlannedItem | undefined> {
  const stored = new Stored();
  const resource = kind === 'Deployment' ? apps : { ...apps, resource: 'statefulsets' };
  const web = (n: number, more: object): KubeObject => {
    const { object } = deployment('web', { replicas: n });
    const metadata = { ...object.metadata, namespace: 'shop', uid: 'w', annotations: { ...one, ...more } };
    return { ...object, kind, metadata };
  };
  for (const name of ['a', 'b']) {
    const bound = room[name] === undefined ? {} : { capacity: { pods: String(room[name]) } };
    stored.put('physicalclusters', cluster(name, bound) as KubeObject);
  }
  const metadata = { name: 'shop', uid: 'n', annotations: one };
  stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  stored.put(resource.resource, web(replicas, annotations));
  stored.decide();
  for (const placement of stored.list('placements') as Placement[]) {
    let start = 0;
    const parts = Object.entries(placement.spec ? countsOf(web(replicas, annotations), placement.spec) : {});
    const shares = parts.map(([c, n]): [string, Share] => {
      const ordinals = kind === 'StatefulSet' ? { ordinalsStart: start } : {};
      start += n;
      return [c, { phase: 'Active', replicas: n, ...ordinals }];
    });
    const spec = { ...placement.spec, shares: Object.fromEntries(shares) };
    stored.put('placements', { ...placement, spec } as KubeObject);
  }
  const changed = { resource, object: web(then, other) };
  stored.put(resource.resource, changed.object);
  const [item] = await planOf(worldOf(stored.of), [changed], { countsOf });
  return item;
}

const overflows = { 'atoll.dev/overflow': 'true' };
const over = (counts: string) => ({ 'atoll.dev/spread': `cluster ${counts}` });
const both = { 'atoll.dev/clusters': 'a,b', 'atoll.dev/placed-by': 'ann' };

test.each<
  [
    string,
    'Deployment' | 'StatefulSet',
    [number, object],
    [number, object],
    Counts,
    PlannedItem['outcome'],
    Counts,
    Counts,
  ]
>([
  [
    'what overflows',
    'Deployment',
    [4, overflows],
    [6, overflows],
    { a: 4, b: 3 },
    'moves',
    { a: 4 },
    { a: 4, b: 2 },
  ],
  [
    'beyond all room',
    'Deployment',
    [4, overflows],
    [9, overflows],
    { a: 4, b: 3 },
    'blocked',
    { a: 4 },
    { a: 6, b: 3 },
  ],
  [
    'what comes home',
    'Deployment',
    [6, overflows],
    [3, overflows],
    { a: 4, b: 3 },
    'moves',
    { a: 4, b: 2 },
    { a: 3 },
  ],
  [
    'a spread',
    'Deployment',
    [5, { ...both, 'atoll.dev/clusters': 'a' }],
    [5, over('a=3,b=2')],
    {},
    'moves',
    { a: 5 },
    { a: 3, b: 2 },
  ],
  [
    'other counts on the same',
    'Deployment',
    [5, over('a=3,b=2')],
    [5, over('a=2,b=3')],
    {},
    'moves',
    { a: 3, b: 2 },
    { a: 2, b: 3 },
  ],
  ['more on each', 'Deployment', [4, both], [6, both], {}, 'stays', { a: 2, b: 2 }, { a: 3, b: 3 }],
  [
    'ordinals',
    'StatefulSet',
    [3, over('a=1,b=2')],
    [3, over('a=2,b=1')],
    {},
    'moves',
    { a: 1, b: 2 },
    { a: 2, b: 1 },
  ],
])('a plan says how many: %s', async (_what, kind, before, then, room, outcome, from, to) => {
  expect(await plannedOf(kind, before, then, room)).toMatchObject({ outcome, replicas: { from, to } });
});

const onA = { 'atoll.dev/clusters': 'a', 'atoll.dev/placed-by': 'ann' };
const anyKind = ['Deployment', 'StatefulSet'] as const;

test.each<
  [string, (typeof anyKind)[number][], [number, object], [number, object], Counts, object | undefined]
>([
  [
    'there is none',
    [...anyKind],
    [3, onA],
    [900, onA],
    { a: 5 },
    { a: 'for 897 more it needs 897 pods, 2 left' },
  ],
  [
    'none on one',
    ['Deployment'],
    [4, both],
    [12, both],
    { a: 3, b: 9 },
    { a: 'for 4 more it needs 4 pods, 1 left' },
  ],
  [
    'none for ordinals',
    ['StatefulSet'],
    [4, both],
    [12, both],
    { b: 9 },
    { b: 'for 8 more it needs 8 pods, 7 left' },
  ],
  ['there is just so much', [...anyKind], [3, onA], [5, onA], { a: 5 }, undefined],
  ['it is to have fewer', [...anyKind], [3, onA], [2, onA], { a: 3 }, undefined],
  ['nobody tells', [...anyKind], [3, onA], [900, onA], {}, undefined],
])('a plan says whether there is room for more: %s', async (_what, kinds, before, then, room, lacks) => {
  for (const kind of kinds) {
    const item = await plannedOf(kind, before, then, room);
    expect(item?.outcome).toBe('stays');
    expect(item?.lacks).toEqual(lacks);
  }
});

test('a plan of a drain says of a Job that has ended that it leaves, and is nowhere then', async () => {
  const stored = new Stored();
  for (const name of ['a', 'b']) stored.put('physicalclusters', cluster(name) as KubeObject);
  const metadata = { name: 'shop', uid: 'n', annotations: one };
  stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  const { object } = placed('Job', 'once', {
    spec: { template: { spec: {} } },
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
    metadata: { annotations: one },
  });
  stored.put('jobs', object);
  stored.decide();
  const drain = async (name: string) => {
    const resource = physical;
    const drained = { resource, object: cluster(name, { drain: true }) as KubeObject };
    stored.put('physicalclusters', drained.object);
    const [item] = await planOf(worldOf(stored.of), [drained], { countsOf });
    return item && { outcome: item.outcome, from: item.from, to: item.to, why: whyOf(item) };
  };
  stored.settle();
  const why = 'a: it has ended, and is not made again';
  expect(await drain('a')).toEqual({ outcome: 'leaves', from: ['a'], to: [], why });
  stored.decide();
  for (const placement of stored.list('placements') as Placement[])
    stored.put('placements', { ...placement, spec: { ...placement.spec, shares: {} } } as KubeObject);
  stored.put('physicalclusters', cluster('a') as KubeObject);
  expect((await drain('b'))?.outcome ?? 'stays', 'it is nowhere').toBe('stays');
});

test('what could not be listed stays as it is; what is beside it is decided, whatever becomes of its cluster', async () => {
  const stored = new Stored();
  const annotations = { 'kcp.io/cluster': 'one' };
  const of = { group: 'fleet.example.com', resource: 'sets' };
  const at = { namespace: 'shop', annotations };
  for (const name of ['a', 'b']) stored.put('physicalclusters', cluster(name) as KubeObject);
  stored.put('namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 'n', annotations },
  });
  const { object } = deployment('web', { replicas: 1 });
  stored.put('deployments', { ...object, metadata: { ...object.metadata, uid: 'w', ...at } });
  const metadata = { name: 'sets.fleet.example.com', annotations };
  const spec = { ...of, scope: 'Namespaced', names: { plural: 'sets', kind: 'Set' } };
  const crd = (served: boolean): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata,
    spec: { ...spec, versions: [{ name: 'v1', served }] },
  });
  const placement = (name: string, uid: string): KubeObject => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: `sets.${name}`, finalizers: ['atoll.dev/placement'], ...at },
    spec: {
      ref: { ...of, version: 'v1', kind: 'Set', name, uid, rule: {} },
      clusters: ['a'],
      shares: { a: { phase: 'Active' } },
    },
  });
  stored.put('placements', placement('db', 's'));
  const where = () => [...stored.where()].map(([key, to]) => [key.split('/').at(-1), to]).sort();
  const list = (isListed: boolean) => {
    const world = worldOf((resource) =>
      resource.resource === 'sets' && !isListed ? undefined : stored.of(resource),
    );
    takeStock(world);
    stored.apply(consider('one//shop', world), 'one//shop');
    return where();
  };
  // Nobody serves it, but its objects are stored.
  stored.put('customresourcedefinitions', crd(false));
  expect(list(true)).toEqual([
    ['db', 'a'],
    ['web', 'a'],
  ]);
  stored.put('customresourcedefinitions', crd(true));
  expect(list(false)).toEqual([
    ['db', 'a'],
    ['web', 'a'],
  ]);
  expect(list(true)).toEqual([
    ['db', ''],
    ['web', 'a'],
  ]);
});

describe('what keeps its Namespace from a rebalance is told', () => {
  const of = (kind: string, name: string): KubeObject => {
    const { object } = deployment(name, { replicas: 1 });
    return {
      ...object,
      kind,
      metadata: { ...object.metadata, namespace: 'shop', uid: name, annotations: one },
    };
  };
  const bound = (name: string, pods: number, more: object = {}) =>
    cluster(name, { capacity: { pods: String(pods) }, ...more }) as PhysicalCluster & KubeObject;
  const changed = (object: KubeObject) => ({ resource: physical, object });
  const physicalNamed = (name: string, more: object) => changed(bound(name, name === 'b' ? 100 : 4, more));

  const stops = 'but it stops before it starts elsewhere';
  test.each<[string, Changed[], string[], string?]>([
    [
      'where a changed cluster rebalances',
      [physicalNamed('a', { rebalance: true })],
      ['statefulsets.apps/db'],
      stops,
    ],
    [
      'not of a cluster that rebalances anyway: another has changed',
      [physicalNamed('b', { rebalance: true })],
      [],
    ],
    [
      'nor of something beside it',
      [{ resource: apps, object: of('Deployment', 'web') }],
      ['deployments.apps/web'],
    ],
    [
      'of what was named, as what stays',
      [{ resource: { ...apps, resource: 'statefulsets' }, object: of('StatefulSet', 'db') }],
      ['statefulsets.apps/db'],
    ],
  ])('%s', async (_what, changes, told, kept) => {
    const stored = new Stored();
    stored.put('physicalclusters', bound('a', 4));
    const metadata = { name: 'shop', uid: 'n', annotations: one };
    stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    stored.put('statefulsets', of('StatefulSet', 'db'));
    stored.put('deployments', of('Deployment', 'web'));
    stored.decide();
    stored.settle();
    stored.put('physicalclusters', bound('a', 4, { rebalance: true }));
    stored.put('physicalclusters', bound('b', 100));
    for (const { resource, object } of changes) stored.put(resource.resource, object);
    const items = await planOf(worldOf(stored.of), changes, { countsOf });
    expect(items.map(({ object }) => object)).toEqual(told);
    const [item] = items.filter(({ object }) => object.startsWith('stateful'));
    if (item) expect(item).toMatchObject({ outcome: 'stays' });
    expect(item?.kept?.replace(/.*, but/, 'but')).toBe(kept);
  });

  test('also where it is nowhere', async () => {
    const stored = new Stored();
    stored.put('physicalclusters', bound('a', 4));
    const metadata = { name: 'shop', uid: 'n', annotations: one };
    stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    stored.put('deployments', of('Deployment', 'web'));
    const big = of('Deployment', 'big');
    stored.put('deployments', { ...big, spec: { ...(big.spec as object), replicas: 500 } });
    stored.decide();
    stored.settle();
    const change = physicalNamed('a', { rebalance: true });
    stored.put('physicalclusters', change.object);
    stored.put('physicalclusters', bound('b', 100));
    const items = await planOf(worldOf(stored.of), [change], { countsOf });
    expect(items).toMatchObject([
      {
        object: 'deployments.apps/big',
        outcome: 'blocked',
        from: [],
        to: [],
        kept: expect.stringMatching(/, but it is nowhere yet$/),
      },
    ]);
  });
});

test('a drain to a cluster that does not answer waits for it, and the plan says so', async () => {
  const stored = new Stored();
  for (const name of ['a', 'b']) stored.put('physicalclusters', cluster(name) as KubeObject);
  const metadata = { name: 'shop', uid: 'n', annotations: one };
  stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  const { object } = deployment('web', { replicas: 2 });
  const annotations = { ...one, ...both };
  const web = { ...object, metadata: { ...object.metadata, namespace: 'shop', uid: 'w', annotations } };
  stored.put('deployments', web);
  stored.decide();
  stored.settle();
  const silent = cluster('b', { ready: false });
  const lastAnswerTime = '2030-01-01T00:00:00Z';
  stored.put('physicalclusters', { ...silent, status: { ...silent.status, lastAnswerTime } } as KubeObject);
  const changed = { resource: physical, object: cluster('a', { drain: true }) as KubeObject };
  stored.put('physicalclusters', changed.object);
  const items = await planOf(worldOf(stored.of), [changed], { countsOf });
  expect(items.map(({ to, awaits }) => ({ to, awaits }))).toEqual([
    { to: ['b'], awaits: [`b, which has not answered since ${lastAnswerTime}`] },
  ]);
});
