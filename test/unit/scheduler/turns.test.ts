import { describe, expect, test } from 'vitest';
import type { Condition, Placement, Share } from '../../../cluster/types.ts';
import { endOfTurn, Leavers, leavingSince, turnMs } from '../../../scheduler/turns.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, namespace, World } from './world.ts';

const active: Share = { phase: 'Active', replicas: 1 };
const names = ['one', 'two', 'three'];
const partOf = { metadata: { labels: { 'app.kubernetes.io/part-of': 'shop' } } };

function settled(status: Condition['status'], since: number): Condition {
  const lastTransitionTime = new Date(since).toISOString();
  return { type: 'Settled', status, reason: '', message: '', lastTransitionTime };
}

/** Three workloads that run on a, which is drained then. */
function drained(drain: object, make: (name: string) => Record<string, unknown> = () => ({})): World {
  const world = new World(...names.map((name) => deployment(name, make(name)))).decide();
  for (const name of names) world.share(name, { a: active });
  world.leaving = new Map();
  world.clusters = [cluster('a', { unschedulable: true, drain: true, ...drain }), cluster('b')];
  return world;
}

const leaving = (world: World) => names.filter((name) => !world.spec(name)?.clusters.includes('a'));
const waiting = (world: World) => names.filter((name) => world.spec(name)?.waits?.includes('a'));

describe('whose turn it is to leave a cluster that is drained', () => {
  test.each<[string, object, number, number]>([
    ['without a limit all leave', {}, 0, 3],
    ['one at a time', { drainConcurrent: 1 }, 0, 1],
    ['two at a time', { drainConcurrent: 2 }, 0, 2],
    ['more than there are', { drainConcurrent: 9 }, 0, 3],
    ['others have some turns', { drainConcurrent: 2 }, 1, 1],
    ['others have all of them', { drainConcurrent: 2 }, 2, 0],
    ['others have more, since fewer may now', { drainConcurrent: 1 }, 5, 0],
    ['of one that does not answer no more than of others', { drainConcurrent: 1, ready: false }, 0, 1],
    [
      'what drives away does not wait',
      { drainConcurrent: 1, taints: [{ key: 'k', effect: 'NoExecute' }] },
      0,
      3,
    ],
  ])('%s', (_what, drain, others, expected) => {
    const world = drained(drain);
    world.leaving = new Map([['a', others]]);
    world.decide();
    expect(leaving(world)).toHaveLength(expected);
    expect(waiting(world)).toHaveLength(3 - expected);
    expect(world.last?.leaving.get('a') ?? 0).toBe(expected);
    expect(world.last?.waiting).toEqual(expected < 3 ? ['a'] : []);
  });

  test('what has ended has no turn: it holds nobody up, and waits for nobody', () => {
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    const job = () => placed('Job', 'once', { spec: { template: { spec: {} } }, status });
    const world = drained({ drainConcurrent: 1 });
    world.objects.push(job());
    world.clusters = [cluster('a'), cluster('b')];
    world.decide();
    world.share('once', { a: { phase: 'Active' } });
    world.clusters = [cluster('a', { unschedulable: true, drain: true, drainConcurrent: 1 }), cluster('b')];
    world.decide();
    world.share('once', { a: { phase: 'Leaving' } });
    world.decide();
    expect(world.spec('once')?.clusters).toEqual(['b']);
    expect(leaving(world)).toHaveLength(1);
    expect(world.last?.leaving.get('a')).toBe(1);
  });

  test('it is said of who waits, and not any more of who is gone or stays', () => {
    const world = drained({ drainConcurrent: 1 }).decide();
    const [first = ''] = leaving(world);
    const late = waiting(world);
    for (const name of late)
      expect(world.spec(name)).toMatchObject({
        clusters: ['a'],
        reasons: { a: 'it is being drained, and at most 1 at a time leave it: it stays until its turn' },
      });
    world.share(first, { b: active });
    world.decide();
    expect(leaving(world)).toHaveLength(2);
    world.clusters = [cluster('a'), cluster('b')];
    world.decide();
    const [last = ''] = names.filter((name) => !leaving(world).includes(name));
    expect(world.spec(last)).toMatchObject({ clusters: ['a'], reasons: { a: 'it is there already' } });
    expect(world.spec(last)?.waits).toBeUndefined();
  });

  test('whoever is on the way counts until it is gone, also after a restart: it is in the Placements', () => {
    const world = drained({ drainConcurrent: 1 }).decide();
    const [first = ''] = leaving(world);
    world.share(first, { a: { phase: 'Leaving' }, b: active });
    world.decide();
    expect(leaving(world)).toEqual([first]);
  });

  test('of a cluster that does not answer who is counted on elsewhere has left', () => {
    const world = drained({ drainConcurrent: 1, ready: false }).decide();
    const [first = ''] = leaving(world);
    world.share(first, { a: active, b: { phase: 'Joining', replicas: 1 } });
    world.decide();
    expect(leaving(world)).toEqual([first]);
    world.share(first, { a: active, b: active });
    world.decide();
    expect(leaving(world)).toHaveLength(2);
  });

  test.each<[string, Placement['status']]>([
    ['is not said to be unsettled', { conditions: [settled('True', 0)] }],
    ['was not settled long before', { conditions: [settled('False', -2 * turnMs)] }],
    ['nothing is said of', undefined],
  ])('what has not arrived for ten minutes gives its turn to the next: what %s', (_what, status) => {
    const world = drained({ drainConcurrent: 1 });
    world.placements = world.placements.map((p) => ({ ...p, ...(status && { status }) }));
    world.now = 5000;
    world.decide();
    const [first = ''] = leaving(world);
    expect(world.last?.turnUntil).toBe(5000 + turnMs);
    expect(world.spec(first)?.leavingSince).toEqual({ a: new Date(5000).toISOString() });
    world.share(first, { a: active, b: { phase: 'Joining', replicas: 1 } });
    world.now += turnMs - 1;
    world.decide();
    expect(leaving(world)).toEqual([first]);
    expect(world.last?.turnUntil).toBe(5000 + turnMs);
    world.now++;
    world.decide();
    expect(leaving(world)).toHaveLength(2);
    expect(world.last?.turnUntil).toBe(5000 + 2 * turnMs);
    world.share(first, { b: active });
    world.decide();
    expect(world.spec(first)?.leavingSince).toBeUndefined();
    expect(leaving(world)).toHaveLength(2);
  });

  test('what moves together goes together, were that more than may', () => {
    expect(leaving(drained({ drainConcurrent: 1 }, () => partOf).decide())).toEqual(names);
    const all = drained({ drainConcurrent: 1 }, () => partOf);
    all.leaving = new Map([['a', 1]]);
    expect(leaving(all.decide())).toEqual([]);
    const whole = drained({ drainConcurrent: 1 });
    whole.namespace = namespace('a,b');
    expect(leaving(whole.decide())).toEqual(names);
  });

  test('who has no other place takes no turn, and is told so at once', () => {
    const world = drained({ drainConcurrent: 1 }, (name) =>
      name === 'three' ? {} : { metadata: annotations('a', 'ann') },
    );
    world.decide();
    expect(leaving(world)).toEqual(['three']);
    expect(world.spec('one')).toMatchObject({ blocked: true });
    expect(waiting(world)).toEqual([]);
  });

  test("a user's own word does not wait, and counts", () => {
    const world = drained({ drainConcurrent: 1 });
    world.objects = world.objects.map((o) =>
      o.object.metadata.name === 'two'
        ? { ...o, object: { ...o.object, metadata: { ...o.object.metadata, ...annotations('b', 'ann') } } }
        : o,
    );
    world.leaving = new Map([['a', 1]]);
    world.decide();
    expect(leaving(world)).toEqual(['two']);
    expect(world.last?.leaving.get('a')).toBe(1);
  });

  test.each<[string, object, string[], string[], string[]]>([
    ['both wait where one has no turn', { a: 0, b: 1 }, ['a', 'b'], ['a', 'b'], ['b']],
    ['both wait where none has', { a: 1, b: 1 }, ['a', 'b'], ['a', 'b'], ['a', 'b']],
    ['both are left where each has one', { a: 0, b: 0 }, ['c'], [], []],
  ])('of two that are drained %s: nothing goes from one to the other', (_what, others, to, waits, asked) => {
    const world = new World(deployment('one'));
    world.namespace = namespace('a,b');
    world.decide().share('one', { a: active, b: active });
    world.namespace = namespace();
    world.leaving = new Map(Object.entries(others));
    const drain = { unschedulable: true, drain: true, drainConcurrent: 1 };
    world.clusters = [cluster('a', drain), cluster('b', drain), cluster('c')];
    world.decide();
    expect(world.spec('one')?.clusters).toEqual(to);
    expect(world.spec('one')?.waits ?? []).toEqual(waits);
    expect(world.last?.waiting).toEqual(asked);
    if (asked.join() === 'b')
      expect(world.spec('one')?.reasons).toMatchObject({
        a: 'it is being drained, and left together with b: it stays until its turn there',
        b: 'it is being drained, and at most 1 at a time leave it: it stays until its turn',
      });
  });

  test.each<[string, object]>([
    ['is driven from the other anyway', { drain: true, taints: [{ key: 'k', effect: 'NoExecute' }] }],
    ['leaves the other, which is not drained', { taints: [{ key: 'k', effect: 'NoExecute' }] }],
  ])('who %s does not wait for a turn there', (_what, fields) => {
    const world = new World(deployment('one'));
    world.namespace = namespace('a,b');
    world.decide().share('one', { a: active, b: active });
    world.namespace = namespace();
    world.leaving = new Map([['a', 9]]);
    const a = cluster('a', { unschedulable: true, drainConcurrent: 1, ...fields });
    world.clusters = [a, cluster('b', { unschedulable: true, drain: true }), cluster('c')];
    expect(world.decide().spec('one')).toMatchObject({ clusters: ['c'] });
    expect(world.last?.waiting).toEqual([]);
  });

  test('where nobody asks for turns nobody waits', () => {
    const world = drained({ drainConcurrent: 1 });
    world.leaving = undefined;
    expect(leaving(world.decide())).toEqual(names);
  });
});

const at = (ms: number) => new Date(ms).toISOString();

describe('since when it leaves a cluster', () => {
  const shares = { a: active, b: active };
  test.each<[string, Partial<Placement['spec']>, Condition | undefined, string[], object | undefined]>([
    ['it leaves none', { clusters: ['a', 'b'] }, undefined, ['a', 'b'], undefined],
    ['since now', { clusters: ['a', 'b'] }, settled('False', 5), ['b'], { a: at(99) }],
    ['as was said', { clusters: ['b'], leavingSince: { a: at(7) } }, undefined, ['b'], { a: at(7) }],
    [
      'of each by itself',
      { clusters: ['b'], leavingSince: { a: at(7) } },
      undefined,
      ['c'],
      { a: at(7), b: at(99) },
    ],
    [
      'it is to stay again',
      { clusters: ['b'], leavingSince: { a: at(7) } },
      undefined,
      ['a', 'b'],
      undefined,
    ],
    ['it is gone', { clusters: ['b'], leavingSince: { x: at(7) } }, undefined, ['a', 'b'], undefined],
    ['of before, unsettled: since then', { clusters: ['b'] }, settled('False', 5), ['b'], { a: at(5) }],
    ['of before, settled: since now', { clusters: ['b'] }, settled('True', 5), ['b'], { a: at(99) }],
  ])('%s', (_what, spec, condition, clusters, expected) => {
    const status = condition && { conditions: [condition] };
    const placement = { spec: { shares, ...spec }, status } as Placement;
    expect(leavingSince(placement, clusters, 99)).toEqual(expected);
  });

  test.each<[string, object, Condition | undefined, number]>([
    ['ten minutes', { a: at(7) }, settled('False', 5), 7 + turnMs],
    ['of before: since it is unsettled', {}, settled('False', 5), 5 + turnMs],
    ['of before: without end while it is settled', {}, settled('True', 5), Number.POSITIVE_INFINITY],
    ['of another: as of before', { b: at(7) }, undefined, Number.POSITIVE_INFINITY],
    ['what is no time has ended', { a: 'soon' }, undefined, turnMs],
  ])('it counts for %s', (_what, since, condition, expected) => {
    const status = condition && { conditions: [condition] };
    expect(endOfTurn({ spec: { leavingSince: since }, status } as Placement, 'a')).toBe(expected);
  });
});

describe('who waits, over all namespaces', () => {
  const limit = (most?: number) => () => most;
  const one = new Map([['a', 1]]);

  test('as many are asked again as turns are free, those first who wait the longest', () => {
    const leavers = new Leavers();
    leavers.set('n1', one);
    for (const key of ['n2', 'n3', 'n4']) leavers.set(key, new Map(), ['a']);
    expect(leavers.next(limit(1), '')).toEqual([]);
    leavers.set('n1', new Map());
    expect(leavers.next(limit(1), '')).toEqual(['n2']);
    expect(leavers.next(limit(2), 'n2')).toEqual(['n3', 'n4']);
    leavers.set('n2', one);
    expect(leavers.next(limit(1), '')).toEqual([]);
    expect(leavers.others('n2').get('a') ?? 0).toBe(0);
    expect(leavers.others('n3').get('a')).toBe(1);
  });

  test('who waits no longer is asked no more', () => {
    const leavers = new Leavers();
    leavers.set('n1', new Map(), ['a']);
    leavers.set('n1', new Map());
    expect(leavers.next(limit(5), '')).toEqual([]);
    expect(leavers.next(limit(), '')).toEqual([]);
  });
});
