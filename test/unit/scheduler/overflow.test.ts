import { describe, expect, it } from 'vitest';
import type { PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PlacementSpec } from '../../../cluster/types.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { numberAt } from '../../../kube/untyped.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { cluster, type Fields, namespace, World } from './world.ts';

type Counts = Record<string, number>;

const annotation = { 'atoll.dev/overflow': 'true' };
const web = (replicas: number, annotations: Record<string, string> = annotation) =>
  deployment('web', { metadata: { annotations }, replicas });

/** Clusters with room for so many pods each. */
function world(room: Counts, replicas: number, clusters?: PlacementPolicySpec['clusters']): World {
  const made = new World(web(replicas, clusters ? {} : annotation));
  made.clusters = Object.entries(room).map(([name, pods]) =>
    cluster(name, { capacity: { pods: String(pods) } }),
  );
  const policy = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'p', namespace: 'shop' },
  };
  if (clusters) made.policies = [layer([{ ...policy, spec: { clusters } }])];
  return made;
}

/** How many are to be where; the shares are made so, as the splitter does it. */
function parts(made: World, name = 'web'): Counts {
  const { clusters = [], spread } = made.decide().spec(name) ?? {};
  const total = numberAt(made.objects[0]?.object, 'spec', 'replicas') ?? 0;
  const counts = spread?.replicas ?? Object.fromEntries(clusters.map((c) => [c, total / clusters.length]));
  const shares = Object.entries(counts).map(([c, replicas]) => [c, { phase: 'Active', replicas }] as const);
  made.share(name, Object.fromEntries(shares));
  return counts;
}

describe('where it comes first', () => {
  it.each<[string, Counts, number, Counts]>([
    ['all that has room on one is there', { a: 4, b: 6 }, 6, { b: 6 }],
    ['what no one has room for is on as few as can be', { a: 4, b: 6, c: 1 }, 9, { a: 3, b: 6 }],
    ['on three where two are not enough', { a: 2, b: 2, c: 2 }, 5, { a: 2, b: 2, c: 1 }],
    ['nowhere where all together are not enough', { a: 2, b: 2 }, 5, {}],
    ['a full one has none of it', { a: 0, b: 3 }, 3, { b: 3 }],
    ['of nothing, one', { a: 2, b: 2 }, 0, { a: 0 }],
  ])('%s', (_what, room, replicas, expected) => {
    expect(parts(world(room, replicas))).toEqual(expected);
  });

  it('groups are filled in their order', () => {
    const groups = [['b'], ['a', 'c']];
    expect(parts(world({ a: 9, b: 2, c: 3 }, 5, { groups, overflow: true }))).toEqual({ b: 2, a: 3 });
  });

  it.each<[string, PlacementPolicySpec['clusters'], string[]]>([
    ['names are as many of them as it takes', { names: ['b', 'c'], overflow: true }, ['b', 'c']],
    ['without it all that are named', { names: ['a', 'b'] }, ['a', 'b']],
    ['one that is excluded takes nothing', { exclude: ['c'], overflow: true }, ['a', 'b']],
  ])('%s', (_what, clusters, expected) => {
    expect(world({ a: 3, b: 4, c: 3 }, 6, clusters).decide().spec('web')?.clusters).toEqual(expected);
  });

  it('says why', () => {
    expect(world({ a: 4, b: 6, c: 0 }, 9).decide().spec('web')?.reasons).toEqual({
      a: 'it takes 3 pods that have no room on b',
      b: 'it takes 6 pods',
      c: 'needs 1 pod, 0 left',
    });
    expect(world({ a: 2, b: 2 }, 5).decide().spec('web')).toMatchObject({
      blocked: true,
      reasons: { a: 'it has room for 2 of its 5 pods', b: 'it has room for 2 of its 5 pods' },
    });
  });

  it('says who lets it overflow, whoever says where it may be', () => {
    const made = world({ a: 4, b: 6 }, 3);
    made.namespace = namespace('a,b');
    expect(made.decide().spec('web')?.reasons).toMatchObject({
      b: 'all of it has room there; its annotation lets it overflow',
    });
  });

  it('counts what others take, and only what its pods ask for', () => {
    const made = world({ a: 9, b: 9 }, 8);
    made.usage = new Map([['a', new Map([['pods', parseQuantity(5)]])]]);
    made.clusters = [cluster('a', { capacity: { pods: '9', cpu: '0' } }), cluster('b', { drain: true })];
    expect(made.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
    made.objects = [web(4)];
    expect(parts(made)).toEqual({ a: 4 });
  });
});

describe('where it is', () => {
  const grown = (room: Counts, from: number, to: number): [World, Counts] => {
    const made = world(room, from);
    parts(made);
    made.objects = [web(to)];
    return [made, parts(made)];
  };

  it('grows in place as far as there is room, and on one more for the rest', () => {
    expect(grown({ a: 4, b: 9 }, 9, 9)[1]).toEqual({ b: 9 });
    const [made, counts] = grown({ a: 4, b: 3 }, 4, 6);
    expect(counts).toEqual({ a: 4, b: 2 });
    made.objects = [web(7)];
    expect(parts(made)).toEqual({ a: 4, b: 3 });
  });

  it('beyond all room it grows where it is, and says so', () => {
    const [made, counts] = grown({ a: 4, b: 3 }, 4, 9);
    expect(counts).toEqual({ a: 6, b: 3 });
    expect(made.spec('web')).toMatchObject({
      blocked: true,
      reasons: { a: 'it takes 6 pods, 2 more than there is room for anywhere' },
    });
  });

  it('comes back when a tenth of the room stays free, not before', () => {
    const [made] = grown({ a: 20, b: 20 }, 20, 25);
    const of = (replicas: number) => {
      made.objects = [web(replicas)];
      return parts(made);
    };
    expect(of(25)).toEqual({ a: 20, b: 5 });
    expect(of(20)).toEqual({ a: 19, b: 1 });
    expect(of(21)).toEqual({ a: 20, b: 1 });
    expect(of(19)).toEqual({ a: 18, b: 1 });
    expect(of(18)).toEqual({ a: 18 });
    expect(of(20)).toEqual({ a: 20 });
  });

  it('looks for more room again, since others may leave some without a word of any cluster', () => {
    const [made] = grown({ a: 4, b: 4 }, 4, 6);
    expect(made.last?.lookAgain).toBe(true);
    made.objects = [web(2)];
    parts(made);
    expect(made.decide().last?.lookAgain).toBe(false);
  });

  it('leaves one that is drained with all that has room elsewhere', () => {
    const [made] = grown({ a: 4, b: 4, c: 4 }, 4, 6);
    made.clusters = made.clusters.map((c) =>
      c.metadata.name === 'a' ? { ...c, spec: { ...c.spec, drain: true } as never } : c,
    );
    expect(parts(made)).toEqual({ b: 4, c: 2 });
  });

  it('is counted by the next one in the same breath', () => {
    const other = deployment('zed', { metadata: { annotations: annotation }, replicas: 3 });
    const made = world({ a: 4, b: 5 }, 5);
    made.objects = [web(5), other];
    expect(parts(made)).toEqual({ b: 5 });
    expect(made.spec('zed')?.clusters).toEqual(['a']);
  });
});

describe('what runs', () => {
  const shared = (made: World, counts: Counts, name = 'web') =>
    made.share(
      name,
      Object.fromEntries(Object.entries(counts).map(([c, replicas]) => [c, { phase: 'Active', replicas }])),
    );
  const bound = (made: World, name: string, pods: number, fields: Fields = {}) => {
    made.clusters = made.clusters.map((c) =>
      c.metadata.name === name ? cluster(name, { capacity: { pods: String(pods) }, ...fields }) : c,
    );
  };
  const without = ({ filled: _filled, ...spec }: PlacementSpec) => spec;
  const taken = (name: string, pods: number) => new Map([[name, new Map([['pods', parseQuantity(pods)]])]]);
  const of = (made: World, replicas: number) => {
    made.objects = [web(replicas)];
    return parts(made);
  };

  it('stays at home, though the most of it is elsewhere by now', () => {
    const made = world({ home: 4, cloud: 0 }, 3);
    expect(parts(made)).toEqual({ home: 3 });
    bound(made, 'cloud', 100);
    expect(of(made, 9)).toEqual({ home: 4, cloud: 5 });
    made.decide();
    expect(parts(made)).toEqual({ home: 4, cloud: 5 });
    expect(of(made, 3)).toEqual({ home: 3 });
  });

  it('does not move for room that comes, until it needs a cluster less', () => {
    const made = world({ a: 4, b: 9 }, 4);
    bound(made, 'b', 3);
    parts(made);
    expect(of(made, 7)).toEqual({ a: 4, b: 3 });
    bound(made, 'a', 6);
    expect(parts(made)).toEqual({ a: 4, b: 3 });
    bound(made, 'a', 8);
    expect(parts(made)).toEqual({ a: 7 });
  });

  it('is not pushed out by what others ask for, only by a bound that is less than it', () => {
    const made = world({ a: 10, b: 20 }, 4);
    bound(made, 'b', 0);
    parts(made);
    bound(made, 'b', 20);
    made.usage = taken('a', 1004);
    expect(parts(made)).toEqual({ a: 4 });
    expect(made.last?.lookAgain).toBe(true);
    expect(of(made, 6)).toEqual({ a: 4, b: 2 });
    made.usage = new Map();
    bound(made, 'a', 3);
    expect(parts(made)).toEqual({ a: 3, b: 3 });
  });

  it('gives way where it does not run', () => {
    const made = world({ a: 10, b: 20 }, 4);
    bound(made, 'b', 0);
    parts(made);
    bound(made, 'b', 20);
    made.usage = taken('a', 9);
    made.placements = made.placements.map((p) => ({
      ...p,
      status: { clusters: { a: { present: true, status: { replicas: 4, readyReplicas: 1 } } } },
    }));
    expect(parts(made)).toEqual({ a: 1, b: 3 });
  });

  it('what has room nowhere waits where it is, not where there is room for one', () => {
    const made = world({ a: 4, b: 0 }, 3);
    parts(made);
    bound(made, 'b', 1);
    made.usage = taken('a', 100);
    expect(of(made, 6)).toEqual({ a: 5, b: 1 });
    expect(made.spec('web')?.reasons).toMatchObject({
      a: 'it takes 5 pods, 2 more than there is room for anywhere',
      b: 'it takes 1 pod that has no room on a',
    });
  });

  it('what has room nowhere stays where it runs, whichever is its home', () => {
    const made = world({ a: 3, b: 6 }, 6);
    parts(made);
    expect(of(made, 9)).toEqual({ b: 6, a: 3 });
    bound(made, 'a', 1);
    expect(parts(made)).toEqual({ b: 6, a: 3 });
    expect(made.spec('web')?.blocked).toBe(true);
  });

  it('is not driven to where there is no room for it', () => {
    const made = world({ a: 4, b: 5 }, 5);
    parts(made);
    expect(of(made, 7)).toEqual({ b: 5, a: 2 });
    bound(made, 'b', 5, { drain: true });
    expect(parts(made)).toEqual({ b: 5, a: 2 });
    expect(made.spec('web')).toMatchObject({
      blocked: true,
      reasons: { a: 'it has room for 4 of its 7 pods, but nothing else fits: it stays' },
    });
    bound(made, 'a', 7);
    expect(parts(made)).toEqual({ a: 7 });
  });

  it('says why one is left behind, and nothing of it when it overflows no longer', () => {
    const made = world({ a: 10, b: 10 }, 10);
    parts(made);
    of(made, 12);
    of(made, 10);
    expect(made.spec('web')?.reasons).toMatchObject({
      b: 'one pod stays until a tenth of the room on a stays free',
    });
    made.objects = [web(10, {})];
    const { clusters, reasons } = made.decide().spec('web') ?? {};
    expect([clusters, reasons]).toEqual([['a', 'b'], { a: 'it is there already', b: 'it is there already' }]);
  });

  it('what is in a later group is looked at again', () => {
    const made = world({ a: 2, b: 9 }, 5, { groups: [['a'], ['b']], overflow: true });
    bound(made, 'a', 0);
    expect(parts(made)).toEqual({ b: 5 });
    expect(made.last?.lookAgain).toBe(true);
    bound(made, 'a', 9);
    expect(parts(made)).toEqual({ a: 5 });
    expect(made.last?.lookAgain).toBe(false);
  });

  it('what comes back is counted by the next one in the same breath', () => {
    const made = new World(web(8), deployment('zed', { metadata: { annotations: annotation }, replicas: 8 }));
    made.clusters = [cluster('a', { capacity: { pods: '8' } }), cluster('b', { capacity: { pods: '20' } })];
    made.decide();
    made.placements = made.placements.map((p) => ({
      ...p,
      spec: { ...without(p.spec as PlacementSpec), clusters: ['a', 'b'] },
    }));
    for (const name of ['web', 'zed']) shared(made, { a: 4, b: 4 }, name);
    bound(made, 'a', 13);
    made.decide();
    expect([made.spec('web')?.filled, made.spec('zed')?.filled]).toEqual([
      [{ cluster: 'a', pods: 8 }],
      [
        { cluster: 'a', pods: 5 },
        { cluster: 'b', pods: 3 },
      ],
    ]);
  });

  it.each<[string, Fields]>([
    ['is cordoned', { unschedulable: true }],
    ['is not ready', { ready: false }],
    ['has a taint', { taints: [{ key: 'k', effect: 'NoSchedule' }] }],
  ])('nothing new comes to one that %s', (_what, fields) => {
    const made = world({ a: 4, b: 2, c: 0 }, 4);
    parts(made);
    expect(of(made, 6)).toEqual({ a: 4, b: 2 });
    bound(made, 'a', 20, fields);
    bound(made, 'c', 20);
    expect(parts(made)).toEqual({ a: 4, b: 2 });
    expect(of(made, 9)).toEqual({ a: 4, b: 2, c: 3 });
  });

  it('where it leaves there is room for its own', () => {
    const made = world({ a: 2, b: 15 }, 6);
    parts(made);
    shared(made, { a: 2, b: 6 });
    made.usage = taken('b', 11);
    made.placements = made.placements.map((p) => ({
      ...p,
      spec: { ...(p.spec as PlacementSpec), filled: [{ cluster: 'b', pods: 4 }] },
    }));
    expect(parts(made)).toEqual({ a: 2, b: 4 });
  });

  it('where all nodes are cordoned there is no room, where nobody says there is no end', () => {
    const made = world({ a: 4 }, 6);
    made.clusters.push({ ...cluster('b'), status: { ...cluster('b').status, allocatable: {} } });
    made.clusters.push(cluster('c'));
    expect(parts(made)).toEqual({ c: 6 });
  });

  it('what is still true of the room for its autoscalers is not written anew', () => {
    const made = world({ a: 4, b: 16 }, 4);
    bound(made, 'b', 3);
    parts(made);
    bound(made, 'b', 16);
    of(made, 6);
    const before = made.spec('web')?.spread?.most;
    expect(before).toEqual({ a: 4, b: 16 });
    made.usage = taken('b', 3);
    parts(made);
    expect(made.spec('web')?.spread?.most).toEqual({ a: 4, b: 13 });
    made.usage = taken('b', 1);
    parts(made);
    expect(made.spec('web')?.spread?.most).toEqual({ a: 4, b: 13 });
  });
});

describe('what does not overflow', () => {
  it('what has a claim, which would be two volumes', () => {
    const made = world({ a: 2, b: 2 }, 3);
    const podSpec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
    made.objects = [
      deployment('web', { metadata: { annotations: annotation }, replicas: 3, podSpec }),
      placed('PersistentVolumeClaim', 'data'),
    ];
    expect(made.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
  });

  it.each<[string, Record<string, string>]>([
    ['says no', { 'atoll.dev/overflow': 'false' }],
    ['says nothing', {}],
    ['says nothing that can be read', { 'atoll.dev/overflow': 'yes' }],
  ])('%s', (_what, annotations) => {
    const made = world({ a: 2, b: 2 }, 3);
    made.objects = [web(3, annotations)];
    expect(made.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
  });

  it('a StatefulSet, whose ordinals are where they are', () => {
    const made = world({ a: 2, b: 2 }, 3);
    const set = placed('StatefulSet', 'web', {
      metadata: { annotations: annotation },
      spec: { replicas: 3 },
    });
    made.objects = [set];
    expect(made.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
  });

  it('what is spread', () => {
    const made = world({ a: 9, b: 9 }, 4);
    made.objects = [web(4, { ...annotation, 'atoll.dev/spread': 'cluster a=1,b=3' })];
    expect(parts(made)).toEqual({ a: 1, b: 3 });
  });
});
