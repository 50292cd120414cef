import { describe, expect, it } from 'vitest';
import type { PlacementSpec } from '../../../cluster/types.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { planFor } from '../../../splitter/plan.ts';
import { deployment } from '../cluster/objects.ts';
import { annotation, type Counts, parts, web, world } from './overflowing.ts';
import { cluster, type Fields, World } from './world.ts';

describe('what overflows and runs', () => {
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

  it.each<[string, Counts, number]>([
    ['home, though the most of it is elsewhere', { home: 4, cloud: 100 }, 12],
    ['of three', { home: 20, second: 9, third: 5 }, 33],
    ['where it may keep one', { home: 20, cloud: 20 }, 25],
  ])(
    'what came last goes first, before anything is decided, and that is what is decided: %s',
    (_what, room, most) => {
      const [first = '', ...others] = Object.keys(room);
      for (let replicas = most; replicas > 0; replicas--) {
        const made = world({ ...room, ...Object.fromEntries(others.map((name) => [name, 0])) }, 4);
        parts(made);
        for (const name of others) bound(made, name, room[name] ?? 0);
        const grown = of(made, most);
        expect(Object.keys(grown)).toEqual([first, ...others]);
        const { clusters = [], shares = {}, spread } = made.spec('web') ?? {};
        const { goal } = planFor(web(replicas).object, clusters, shares, { spread });
        const fewer = Object.fromEntries([...goal].map(([name, part]) => [name, part.replicas ?? 0]));
        made.share(
          'web',
          Object.fromEntries(Object.entries(fewer).map(([c, n]) => [c, { phase: 'Active', replicas: n }])),
        );
        const decided = of(made, replicas);
        expect(fewer, String(replicas)).toEqual({
          ...Object.fromEntries(clusters.map((c) => [c, 0])),
          ...decided,
        });
      }
    },
  );

  it('no pod goes from where the next decision gives one back, or comes to where it takes one away, whether or not there is room for all', () => {
    let seed = 7;
    const upTo = (most: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * (most + 1));
    };
    const seen = { short: 0, roomy: 0, more: 0 };
    for (let history = 0; history < 300; history++) {
      const room = { a: 1 + upTo(11), b: upTo(8), ...(upTo(2) === 0 && { c: upTo(5) }) };
      const made = world(room, 1 + upTo(room.a - 1));
      let before = parts(made);
      for (let step = 0; step < 8; step++) {
        const old = made.spec('web');
        const wanted = 1 + upTo(27);
        const { clusters = [], shares = {}, spread } = old ?? {};
        const total = Object.values(before).reduce((sum, n) => sum + n, 0);
        const { goal } = planFor(web(wanted).object, clusters, shares, { spread });
        const fewer = [...goal].map(([name, { replicas = 0 }]) => [name, replicas] as const);
        shared(made, Object.fromEntries(fewer));
        const after = of(made, wanted);
        if (wanted < total) {
          seen[old?.noRoom ? 'short' : 'roomy']++;
          const back = fewer.filter(([name, n]) => n < (before[name] ?? 0) && n < (after[name] ?? 0));
          expect(back, JSON.stringify({ room, before, wanted, fewer, after })).toEqual([]);
        } else if (wanted > total) {
          seen.more++;
          // What has no room there is at the first until it has come to one that is new.
          const [first] = spread?.order ?? clusters;
          const gone = fewer.filter(
            ([name, n]) => name !== first && n > (before[name] ?? 0) && n > (after[name] ?? 0),
          );
          expect(gone, JSON.stringify({ room, before, wanted, fewer, after })).toEqual([]);
        }
        before = after;
      }
    }
    expect(Math.min(seen.short, seen.roomy, seen.more)).toBeGreaterThan(100);
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
    expect(made.spec('web')?.noRoom).toBeUndefined();
    // All of them run: it is only not where it ought to be.
    expect(made.spec('web')?.unplaced).toBeUndefined();
    of(made, 11);
    expect(made.spec('web')?.unplaced).toEqual({ pods: 2, of: 11 });
    of(made, 7);
    bound(made, 'a', 7);
    expect(parts(made)).toEqual({ a: 7 });
  });

  it.each<[string, string, Fields, boolean]>([
    ['no more than others', 'c', { unschedulable: true }, true],
    ['its home is cordoned', 'a', { unschedulable: true }, false],
    ['its home is silent', 'a', { ready: false }, false],
    ['its home is tainted', 'a', { taints: [{ key: 'k', effect: 'NoSchedule' }] }, false],
    ['its home is drained', 'a', { unschedulable: true, drain: true }, false],
    ['another that it is on is cordoned', 'b', { unschedulable: true }, false],
  ])('where what refuses it is %s', (_what, name, fields, isForRoom) => {
    const made = world({ a: 4, b: 2, c: 0 }, 4);
    parts(made);
    expect(of(made, 8)).toEqual({ a: 6, b: 2 });
    expect(made.spec('web')?.noRoom).toMatchObject({ pods: 2, on: ['a'] });
    bound(made, name, name === 'a' ? 4 : 2, fields);
    made.decide();
    expect(made.spec('web')?.blocked).toBe(true);
    expect(made.spec('web')?.noRoom !== undefined).toBe(isForRoom);
    expect(made.spec('web')?.unplaced).toEqual(isForRoom ? undefined : { pods: 2, of: 8 });
  });

  it('says of a cluster that it is on what keeps the rest from it', () => {
    const made = world({ a: 4, b: 2 }, 4);
    parts(made);
    expect(of(made, 6)).toEqual({ a: 4, b: 2 });
    bound(made, 'b', 9, { unschedulable: true });
    made.decide();
    expect(made.spec('web')?.reasons).toMatchObject({ b: 'it takes 2 pods that have no room on a' });
    expect(of(made, 8)).toEqual({ a: 6, b: 2 });
    expect(made.spec('web')?.reasons).toMatchObject({
      a: 'it takes 6 pods, 2 more than there is room for anywhere',
      b: 'it takes 2 pods that have no room on a; it is cordoned',
    });
  });

  it('of one that its owner wants elsewhere, what has no room there is still said', () => {
    const made = world({ a: 9, b: 4 }, 6);
    expect(parts(made)).toEqual({ a: 6 });
    made.objects = [web(6, { ...annotation, 'atoll.dev/clusters': 'b' })];
    made.decide();
    expect(made.spec('web')).toMatchObject({ clusters: ['a'], blocked: true, noRoom: { pods: 2, of: 6 } });
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
