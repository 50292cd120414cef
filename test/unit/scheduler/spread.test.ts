import { describe, expect, it } from 'vitest';
import type { PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { cluster, type Fields, namespace, World } from './world.ts';

type Clusters = NonNullable<PlacementPolicySpec['clusters']>;

const regions: Record<string, string | undefined> = { a: 'us', b: 'us', c: 'eu', d: 'asia', e: undefined };
const labelled = (name: string, spec: Fields = {}): PhysicalCluster => {
  const made = cluster(name, spec);
  const region = regions[name];
  return { ...made, metadata: { ...made.metadata, ...(region && { labels: { region } }) } };
};
const fleet = (changed: Record<string, Fields> = {}) =>
  Object.keys(regions).map((name) => labelled(name, changed[name]));
const policies = (clusters: Clusters) =>
  [
    layer([
      {
        apiVersion: 'atoll.dev/v1alpha1',
        kind: 'PlacementPolicy',
        metadata: { name: 'p', namespace: 'shop' },
        spec: { clusters },
      },
    ]),
  ] as const;
const web = (replicas: number, annotations?: Record<string, string>) =>
  deployment('web', { metadata: { ...(annotations && { annotations }) }, replicas });
const world = (clusters: Clusters | undefined, replicas = 5) => {
  const made = new World(web(replicas));
  made.clusters = fleet();
  if (clusters) made.policies = policies(clusters);
  return made;
};
const exact = { topologyKey: 'region', replicas: { us: 3, eu: 2 } };

describe('which clusters', () => {
  it.each<[string, Clusters, number, string[]]>([
    ['one of each value that has replicas', { spread: exact }, 5, ['a', 'c']],
    ['though there are fewer replicas', { spread: exact }, 1, ['a', 'c']],
    ['so many, in turns', { spread: exact, count: 3 }, 5, ['a', 'b', 'c']],
    ['more than there are', { spread: exact, count: 9 }, 5, ['a', 'b', 'c']],
    ['all that match', { spread: exact, labelSelector: { matchLabels: { region: 'us' } } }, 5, ['a', 'b']],
    ['all that are named', { spread: exact, names: ['b', 'c', 'd', 'e'] }, 5, ['b', 'c']],
    ['any but those', { spread: exact, exclude: ['a'] }, 5, ['b', 'c']],
    ['one of every value', { spread: { topologyKey: 'region' } }, 5, ['a', 'c', 'd']],
    ['not more than there are replicas', { spread: { topologyKey: 'region' } }, 2, ['a', 'c']],
    ['so many of every value', { spread: { topologyKey: 'region' }, count: 4 }, 9, ['a', 'b', 'c', 'd']],
    ['each for itself', { spread: { topologyKey: 'cluster' } }, 9, ['a', 'b', 'c', 'd', 'e']],
    ['by name', { spread: { topologyKey: 'cluster', replicas: { d: 1, e: 2 } } }, 3, ['d', 'e']],
    ['a label that none has', { spread: { topologyKey: 'room' } }, 3, []],
  ])('%s', (_what, clusters, replicas, expected) => {
    expect(world(clusters, replicas).decide().spec('web')?.clusters).toEqual(expected);
  });

  it('says why, and what the splitter is to divide', () => {
    const made = world({ spread: exact }).decide().spec('web');
    expect(made?.reasons).toEqual({
      a: 'by PlacementPolicy p: region us',
      b: 'not needed: one of its region is enough, PlacementPolicy p spreads it',
      c: 'by PlacementPolicy p: region eu',
      d: 'PlacementPolicy p has no replicas for region asia',
      e: 'it has no label region, which PlacementPolicy p spreads over',
    });
    expect(made?.spread).toEqual({ ...exact, values: { a: 'us', c: 'eu' } });
    expect(made?.blocked).toBeUndefined();
  });

  it('of what is whole wherever it is says nothing of replicas', () => {
    const agent = placed('DaemonSet', 'web', { spec: { template: { spec: { containers: [] } } } });
    const made = new World(agent);
    made.clusters = fleet();
    made.policies = policies({ spread: exact });
    expect(made.decide().spec('web')).toMatchObject({ clusters: ['a', 'c'] });
    expect(made.spec('web')?.spread).toBeUndefined();
  });
});

describe('an annotation', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['spreads', { 'atoll.dev/spread': 'region us=3,eu=2' }, ['a', 'c']],
    ['spreads evenly', { 'atoll.dev/spread': 'region' }, ['a', 'c', 'd']],
    [
      'with exclusions',
      { 'atoll.dev/spread': 'region us=3,eu=2', 'atoll.dev/clusters': '!a', 'atoll.dev/placed-by': 'ann' },
      ['b', 'c'],
    ],
    [
      'with names',
      { 'atoll.dev/spread': 'region us=3,eu=2', 'atoll.dev/clusters': 'b,c,d', 'atoll.dev/placed-by': 'ann' },
      ['b', 'c'],
    ],
    [
      'beside what the scheduler wrote',
      {
        'atoll.dev/spread': 'region us=3,eu=2',
        'atoll.dev/clusters': 'd',
        'atoll.dev/placed-by': 'system:atoll:scheduler',
      },
      ['a', 'c'],
    ],
    ['that says nothing counts for nothing', { 'atoll.dev/spread': '?' }, ['a']],
  ])('%s', (_what, annotations, expected) => {
    const made = world(undefined);
    made.objects = [web(5, annotations)];
    const wished = made.decide().spec('web');
    expect(wished?.clusters).toEqual(expected);
  });

  it('of the Namespace counts for all in it, and the object’s own before it', () => {
    const made = world(undefined);
    made.namespace = {
      ...namespace(),
      metadata: { name: 'shop', annotations: { 'atoll.dev/spread': 'region eu=1' } },
    };
    expect(made.decide().spec('web')?.clusters).toEqual(['c']);
    made.objects = [web(5, { 'atoll.dev/spread': 'region asia=1' })];
    expect(made.decide().spec('web')).toMatchObject({ clusters: ['d'], spread: { values: { d: 'asia' } } });
  });

  it('narrows what a policy leaves', () => {
    const made = world({ labelSelector: { matchLabels: { region: 'eu' } } });
    made.objects = [web(5, { 'atoll.dev/spread': 'region us=3,eu=2' })];
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['c'],
      spread: { replicas: exact.replicas },
    });
  });
});

describe('a region that cannot', () => {
  it('be had has its replicas elsewhere, and takes them back', () => {
    const made = world({ spread: exact });
    made.clusters = fleet({ c: { drain: true, unschedulable: true } });
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['a'],
      spread: { ...exact, values: { a: 'us' } },
      reasons: { c: 'it is being drained' },
    });
    expect(made.last?.open).toBe(true);
    made.clusters = fleet();
    expect(made.decide().spec('web')?.clusters).toEqual(['a', 'c']);
    made.policies = policies({ spread: exact, exclude: ['c'] });
    expect(made.decide().spec('web')?.clusters).toEqual(['a']);
    made.policies = policies({ spread: exact });
    expect(made.decide().spec('web')?.clusters).toEqual(['a', 'c']);
  });

  it('hold what it would have to: what would be there instead is counted', () => {
    const made = world({ spread: exact });
    made.clusters = fleet({ a: { capacity: { pods: '4' } }, c: { capacity: { pods: '1' } } });
    expect(made.decide().spec('web')).toMatchObject({ clusters: ['b'], spread: { values: { b: 'us' } } });
    const none = world({ spread: exact });
    none.clusters = fleet({
      a: { capacity: { pods: '4' } },
      b: { ready: false },
      c: { capacity: { pods: '1' } },
    });
    expect(none.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
  });

  it('moves nothing where none can', () => {
    const made = world({ spread: exact }).decide();
    made.clusters = fleet(Object.fromEntries(Object.keys(regions).map((c) => [c, { drain: true }])));
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['a', 'c'],
      blocked: true,
      spread: { values: { a: 'us', c: 'eu' } },
      reasons: { a: 'it is being drained, but nothing else fits: it stays' },
    });
  });

  it('fall silent keeps what it has', () => {
    const made = world({ spread: exact }).decide();
    made.clusters = fleet({ c: { ready: false } });
    expect(made.decide().spec('web')?.clusters).toEqual(['a', 'c']);
  });
});

describe('what is there', () => {
  it('stays in its region, where another cluster is better', () => {
    const made = world({ spread: exact });
    made.clusters = fleet({ a: { unschedulable: true } });
    expect(made.decide().spec('web')?.clusters).toEqual(['b', 'c']);
    made.clusters = fleet();
    expect(made.decide().spec('web')?.clusters).toEqual(['b', 'c']);
  });

  it('leaves one of two of a region where so many are asked for', () => {
    const made = world({ names: ['a', 'b'] }).decide();
    expect(made.spec('web')?.clusters).toEqual(['a', 'b']);
    made.policies = policies({ spread: exact, count: 2 });
    expect(made.decide().spec('web')?.clusters).toEqual(['a', 'c']);
  });

  it('leaves a cluster that loses the label', () => {
    const made = world({ spread: exact }).decide();
    made.clusters = fleet().map((it) => (it.metadata.name === 'a' ? cluster('a') : it));
    expect(made.decide().spec('web')?.clusters).toEqual(['b', 'c']);
  });
});
