import { describe, expect, it } from 'vitest';
import type { Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, namespace, World } from './world.ts';

const podSpec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
const active: Share = { phase: 'Active', replicas: 1 };
const recreate = { annotations: { 'atoll.dev/clusters': 'b', 'atoll.dev/volumes': 'recreate' } };

const bind = (world: World, names: readonly string[]) => {
  world.share('data', Object.fromEntries(names.map((name) => [name, { phase: 'Active' as const }])));
  const clusters = Object.fromEntries(
    names.map((name) => [name, { present: true, status: { phase: 'Bound' } }]),
  );
  world.placements = world.placements.map((p) =>
    p.spec?.ref.name === 'data' ? { ...p, status: { clusters } } : p,
  );
};
const remove = (world: World, name: string) => {
  world.objects = world.objects.filter((o) => o.object.metadata.name !== name);
  world.placements = world.placements.filter((p) => p.spec?.ref.name !== name);
};
const replace = (world: World, name: string, fields: object): void => {
  world.objects = world.objects.map((o) =>
    o.object.metadata.name === name ? deployment(name, { ...fields }) : o,
  );
};
const where = (world: World) => world.spec('data')?.clusters;

/** `one` has the claim on a. */
function ofOne(...others: ReturnType<typeof deployment>[]): World {
  const one = deployment('one', { podSpec, metadata: annotations('a') });
  const world = new World(one, ...others, placed('PersistentVolumeClaim', 'data')).decide();
  world.share('one', { a: active });
  return world;
}

describe('data on a cluster goes by the word of those alone who have it there', () => {
  it.each([
    ['that is elsewhere by its annotation', annotations('b')],
    ['that would go without its data', recreate],
  ])('not of another user of the claim, %s', (_what, metadata) => {
    const world = ofOne(deployment('two', { podSpec, metadata }));
    world.share('two', { b: active });
    bind(world, ['a', 'b']);
    remove(world.decide(), 'one');
    expect(where(world.decide())).toEqual(['a', 'b']);
  });

  it.each([
    ['that is elsewhere by its annotation', annotations('b')],
    ['that would go without its data', recreate],
  ])('not of one that begins to use it, %s', (_what, metadata) => {
    const world = ofOne(deployment('two', { metadata }));
    world.share('two', { b: active });
    bind(world, ['a']);
    remove(world.decide(), 'one');
    replace(world, 'two', { podSpec, metadata });
    expect(where(world.decide())).toEqual(['a', 'b']);
  });

  it.each([
    ['by its annotation', annotations('b')],
    ['without its data', recreate],
  ])('of one that leaves %s, also when it is there no longer', (_what, metadata) => {
    const world = ofOne();
    bind(world, ['a']);
    replace(world, 'one', { podSpec, metadata });
    expect(where(world.decide())).toEqual(['a', 'b']);
    world.share('one', { b: active });
    expect(where(world.decide())).toEqual(['b']);
  });

  it.each<[string, Record<string, string>]>([
    ['the claim', { data: 'hold' }],
    ['the workload', { one: 'hold' }],
    ['the Namespace', { namespace: 'hold' }],
    ['the claim, more than the workload', { one: 'recreate', data: 'hold' }],
  ])('not of one that is named elsewhere, where %s says that it is held', (_who, words) => {
    const world = ofOne();
    bind(world, ['a']);
    const said = (metadata: KubeObject['metadata'], name: string) => ({
      ...metadata,
      annotations: { ...metadata.annotations, ...(words[name] && { 'atoll.dev/volumes': words[name] }) },
    });
    const shop = namespace('b');
    world.namespace = { ...shop, metadata: said(shop.metadata, 'namespace') };
    replace(world, 'one', { podSpec });
    world.objects = world.objects.map(({ kind, object }) => ({
      kind,
      object: { ...object, metadata: said(object.metadata, object.metadata.name ?? '') },
    }));
    expect(world.decide().spec('one')?.clusters).toEqual(['b']);
    expect(where(world)).toEqual(['a', 'b']);
    world.share('one', { b: active });
    expect(where(world.decide())).toEqual(['a', 'b']);
    expect(world.spec('data')?.reasons?.['a']).toContain('it holds data there');
    world.namespace = namespace('b');
    world.objects = world.objects.map(({ kind, object }) => {
      const { 'atoll.dev/volumes': _held, ...annotations } = object.metadata.annotations ?? {};
      return { kind, object: { ...object, metadata: { ...object.metadata, annotations } } };
    });
    expect(where(world.decide()), 'the word is taken back').toEqual(['b']);
  });

  it('not while what uses it runs as its template was before', () => {
    const world = ofOne();
    bind(world, ['a']);
    replace(world, 'one', {
      podSpec,
      metadata: { ...annotations('b'), generation: 2 },
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1 },
    });
    world.decide();
    world.share('one', { b: active });
    expect(where(world.decide())).toEqual(['a', 'b']);
    expect(world.last?.lookAgain).toBe(true);
  });

  it('not when the word is taken back before it went', () => {
    const world = ofOne();
    bind(world, ['a']);
    replace(world, 'one', { podSpec, metadata: annotations('b') });
    world.decide();
    world.share('one', { b: active });
    replace(world, 'one', { podSpec });
    expect(where(world.decide())).toContain('a');
    expect(world.spec('data')?.givenUp).toBeUndefined();
  });

  it('not when who gave it takes the word back, though another one elsewhere says the same', () => {
    const world = ofOne(deployment('two', { podSpec, metadata: annotations('c') }));
    world.share('two', { c: active });
    bind(world, ['a']);
    replace(world, 'one', { podSpec, metadata: annotations('b') });
    world.decide();
    expect(world.spec('data')?.givenUp).toEqual({ a: ['Deployment-one'] });
    replace(world, 'one', { podSpec });
    world.share('one', { b: active });
    expect(where(world.decide())).toContain('a');
    expect(where(world.decide())).toContain('a');
  });

  it('not of one that is at rest, though it would go without', () => {
    const world = ofOne(deployment('two', { podSpec, metadata: annotations('b') }));
    world.share('two', { b: active });
    bind(world, ['a', 'b']);
    replace(world, 'one', { podSpec, metadata: { annotations: { 'atoll.dev/volumes': 'recreate' } } });
    remove(world.decide(), 'one');
    expect(where(world.decide())).toEqual(['a', 'b']);
  });

  it('not of one that begins to use it where it leaves', () => {
    const world = ofOne(deployment('two', { metadata: annotations('a') }));
    world.share('two', { a: active });
    bind(world, ['a']);
    remove(world.decide(), 'one');
    replace(world, 'two', { podSpec, metadata: annotations('b') });
    world.decide();
    world.share('two', { b: active });
    expect(where(world.decide())).toContain('a');
  });

  it('not of those that are left when one that held it is deleted', () => {
    const world = ofOne(deployment('two', { podSpec, metadata: annotations('a') }));
    world.share('two', { a: active });
    bind(world, ['a']);
    replace(world.decide(), 'two', { podSpec, metadata: recreate });
    world.decide();
    remove(world, 'one');
    world.share('two', { b: active });
    expect(where(world.decide())).toContain('a');
  });
});

it('tells who leaves data, or gives it up, when it begins and when the data goes, with all who say so', () => {
  const told = (world: World) =>
    world.last?.leaveData.map(({ placed: { object } }) => object.metadata.name).sort();
  const world = ofOne(deployment('other', { metadata: annotations('a') }));
  bind(world, ['a']);
  expect(told(world.decide())).toEqual([]);
  replace(world, 'other', { metadata: annotations('b') });
  expect(told(world.decide())).toEqual([]);
  replace(world, 'one', { podSpec, metadata: annotations('b') });
  expect(told(world.decide())).toEqual(['data', 'one']);
  world.share('one', { b: active });
  expect(told(world.decide())).toEqual(['data', 'one']);
  expect(where(world)).toEqual(['b']);
});

describe('while not all that is said of data is known', () => {
  const why = 'what is said of its data cannot be read: persistentvolumeclaims: no answer within 5 s';
  const unread = (world: World, ...names: string[]) => {
    const uids = world.objects.flatMap(({ object: { metadata } }) =>
      names.includes(metadata.name ?? '') ? [metadata.uid ?? ''] : [],
    );
    world.unread = new Map(uids.map((uid) => [uid, why]));
    return world;
  };

  it('who would leave it stays, and says why; what uses none of it goes where it is to be', () => {
    const world = ofOne(deployment('other', { metadata: annotations('a') }));
    bind(world, ['a']);
    replace(world, 'one', { podSpec, metadata: annotations('b') });
    replace(world, 'other', { metadata: annotations('b') });
    world.objects.push(deployment('late', { metadata: annotations('c') }));
    unread(world, 'one', 'data').decide();
    expect(world.spec('one')).toMatchObject({ clusters: ['a'], wanted: ['b'], reasons: { a: why, b: why } });
    expect(world.spec('one')).toMatchObject({ blocked: true });
    expect(where(world)).toEqual(['a']);
    expect(world.spec('data')?.givenUp).toBeUndefined();
    expect(world.spec('other')?.clusters).toEqual(['b']);
    expect(world.spec('late')?.clusters).toEqual(['c']);
    unread(world).decide();
    expect(world.spec('one')).toMatchObject({ clusters: ['b'] });
    expect(world.spec('one')?.blocked).toBeUndefined();
    expect(world.spec('data')?.givenUp).toEqual({ a: ['Deployment-one'] });
  });

  it('who would leave a drained cluster takes no turn from others', () => {
    const world = ofOne(deployment('other', { metadata: annotations('a', 'system:atoll:scheduler') }));
    bind(world, ['a']);
    world.share('other', { a: active });
    replace(world, 'one', { podSpec, metadata: { annotations: { 'atoll.dev/volumes': 'recreate' } } });
    world.clusters = [cluster('a', { drain: true, unschedulable: true, drainConcurrent: 1 }), cluster('b')];
    world.leaving = new Map();
    unread(world, 'one', 'data').decide();
    expect(world.spec('one')).toMatchObject({ clusters: ['a'], reasons: { a: why, b: why } });
    expect(world.spec('one')?.waits).toBeUndefined();
    expect(world.spec('other')?.clusters).toEqual(['b']);
  });

  it('data that was given up before goes', () => {
    const world = ofOne();
    bind(world, ['a']);
    replace(world, 'one', { podSpec, metadata: annotations('b') });
    world.decide();
    world.share('one', { b: active });
    unread(world, 'one').decide();
    expect(where(world)).toEqual(['b']);
  });

  it('nothing is held on a cluster that is there no longer', () => {
    const world = ofOne();
    bind(world, ['a']);
    world.clusters = [cluster('b')];
    replace(world, 'one', { podSpec, metadata: annotations('b') });
    unread(world, 'one', 'data').decide();
    expect(world.spec('one')?.clusters).toEqual(['b']);
  });
});
