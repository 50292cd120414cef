import { describe, expect, it } from 'vitest';
import type { PlacementSpec, Share } from '../../../cluster/types.ts';
import { wordsOf } from '../../../scheduler/words.ts';
import { placed } from '../cluster/objects.ts';
import { cluster, World } from './world.ts';

const active: Share = { phase: 'Active', replicas: 1 };
const since = '2026-01-01T00:00:00.000Z';
const given = (...names: string[]) => Object.fromEntries(names.map((name) => [name, since]));

/** A StatefulSet on `a` and `b`, where its annotations say so; it makes claims unless it says otherwise. */
function set(clusters: string, volumes?: string, templates: object[] = [{ metadata: { name: 'data' } }]) {
  const annotations = { 'atoll.dev/clusters': clusters, ...(volumes && { 'atoll.dev/volumes': volumes }) };
  const spec = { replicas: 1, volumeClaimTemplates: templates };
  return placed('StatefulSet', 'db', { metadata: { annotations }, spec });
}

function on(clusters: string, volumes?: string): World {
  const world = new World(set(clusters, volumes));
  world.now = Date.parse(since);
  world.decide();
  world.share('db', Object.fromEntries(clusters.split(',').map((name) => [name, active])));
  return world.decide();
}

const turn = (world: World, object: ReturnType<typeof set>): PlacementSpec | undefined => {
  world.objects = [object];
  return world.decide().spec('db');
};

describe('what a set that leaves gives up', () => {
  it('is told from the decision on, and still when it has left', () => {
    const world = on('a,b', 'recreate');
    expect(world.spec('db')?.givenUp).toBeUndefined();
    expect(turn(world, set('b', 'recreate'))?.givenUp).toEqual(given('a'));
    world.now += 1000;
    world.share('db', { b: active });
    expect(world.decide().spec('db')?.givenUp).toEqual(given('a'));
    expect(turn(world, set('c', 'recreate'))?.givenUp).toEqual({ a: since, b: '2026-01-01T00:00:01.000Z' });
  });

  it.each<[string, ReturnType<typeof set>, object | undefined]>([
    ['where it is wanted again', set('a,b', 'recreate'), undefined],
    ['where its user says hold', set('b', 'hold'), undefined],
    ['where its user says nothing any more', set('b'), undefined],
    ['where it makes no claims any more', set('b', 'recreate', []), undefined],
    ['and told as long as none of that is so', set('b', 'recreate'), given('a')],
  ])('is given up no more %s', (_name, object, expected) => {
    const world = on('a,b', 'recreate');
    turn(world, set('b', 'recreate'));
    world.share('db', { b: active });
    expect(turn(world, object)?.givenUp).toEqual(expected);
  });

  it('is not what it left before anybody gave it up', () => {
    const world = on('a,b');
    turn(world, set('b'));
    world.share('db', { b: active });
    expect(turn(world, set('b', 'recreate'))?.givenUp).toBeUndefined();
  });

  it('is nothing where it has no other place, nor on a cluster that is gone', () => {
    const world = on('a', 'recreate');
    world.clusters = [cluster('a', { drain: true })];
    expect(world.decide().spec('db')?.givenUp).toBeUndefined();
    world.clusters = [cluster('b')];
    expect(turn(world, set('b', 'recreate'))?.givenUp).toBeUndefined();
  });
});

describe('what its user is told', () => {
  const ref = {
    group: 'apps',
    version: 'v1',
    resource: 'statefulsets',
    kind: 'StatefulSet',
    name: 'db',
    uid: '1',
  };
  const spec = (clusters: string[], givenUp?: Record<string, string>): PlacementSpec => ({
    ref,
    clusters,
    ...(givenUp && { givenUp }),
  });

  it.each<[string, PlacementSpec, PlacementSpec, string[]]>([
    ['when it is given up', spec(['a']), spec(['b'], given('a')), ['ClaimsGivenUp']],
    ['once', spec(['b'], given('a')), spec(['b'], given('a')), []],
    ['when it is not any more', spec(['b'], given('a')), spec(['b']), ['ClaimsKept']],
    ['not when it comes back to it', spec(['b'], given('a')), spec(['a']), []],
    ['of each cluster', spec(['b'], given('a')), spec(['c'], given('a', 'b')), ['ClaimsGivenUp']],
  ])('%s', (_name, before, now, expected) => {
    const reasons = wordsOf(before, now).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason.startsWith('Claims'))).toEqual(expected);
  });
});
