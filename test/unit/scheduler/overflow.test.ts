import { describe, expect, it } from 'vitest';
import type { PlacementPolicySpec } from '../../../cluster/policy.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotation, type Counts, parts, web, world } from './overflowing.ts';
import { cluster, namespace, type World } from './world.ts';

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

  it.each<[string, Counts, number, number, object | undefined]>([
    ['all of it has room', { a: 4, b: 3 }, 4, 7, undefined],
    ['beside what runs', { a: 4, b: 3 }, 4, 9, { pods: 2, of: 9, on: ['a'] }],
    ['on one alone', { a: 4 }, 4, 5, { pods: 1, of: 5, on: ['a'] }],
    ['nowhere yet', { a: 2, b: 2 }, 0, 5, { pods: 1, of: 5 }],
    ['nowhere yet, and none of it', { a: 0, b: 0 }, 0, 2, { pods: 2, of: 2 }],
    ['nowhere yet, for nothing', { a: 0 }, 0, 0, undefined],
  ])('says how much has room nowhere: %s', (_what, room, from, to, expected) => {
    const made = world(room, from);
    if (from > 0) parts(made);
    made.objects = [web(to)];
    expect(made.decide().spec('web')?.noRoom).toEqual(expected);
  });

  it('says what these pods ask for, and nothing of it when there is room', () => {
    const made = world({ a: 2 }, 4);
    const podSpec = { containers: [{ name: 'c', resources: { requests: { cpu: '500m', memory: '1Gi' } } }] };
    const of = (replicas: number) =>
      deployment('web', { metadata: { annotations: annotation }, replicas, podSpec });
    made.objects = [of(2)];
    made.decide().share('web', { a: { phase: 'Active', replicas: 2 } });
    made.objects = [of(5)];
    expect(made.decide().spec('web')?.noRoom).toEqual({
      pods: 3,
      of: 5,
      requests: { cpu: '1500m', memory: '3Gi' },
      on: ['a'],
    });
    made.clusters.push(cluster('b'));
    expect(made.decide().spec('web')).toMatchObject({ clusters: ['a', 'b'] });
    expect(made.spec('web')?.noRoom).toBeUndefined();
  });

  it('names of resources that none can have are not repeated', () => {
    const made = world({ a: 2 }, 2);
    const requests = { cpu: '1', [`example.com/${'x'.repeat(306)}`]: '1', ['x'.repeat(100_000)]: '1' };
    const podSpec = { containers: [{ name: 'c', resources: { requests } }] };
    made.objects = [deployment('web', { metadata: { annotations: annotation }, replicas: 3, podSpec })];
    made.clusters = [cluster('a', { capacity: { pods: '2' } })];
    expect(made.decide().spec('web')?.noRoom).toEqual({ pods: 1, of: 3, requests: { cpu: '1' } });
  });

  it('says who else takes nothing, first whom no word of its owner keeps out', () => {
    const made = world({ a: 4, b: 4, c: 0, d: 9, e: 9, f: 9 }, 4, { exclude: ['b'], overflow: true });
    const shut = (name: string) => cluster(name, { capacity: { pods: '9' }, unschedulable: true });
    made.clusters = made.clusters.map((c) =>
      'def'.includes(c.metadata.name ?? '') ? shut(c.metadata.name ?? '') : c,
    );
    parts(made);
    made.objects = [web(6, {})];
    made.decide();
    expect(made.spec('web')?.noRoom).toEqual({ pods: 2, of: 6, on: ['a'], refused: ['d', 'e', 'f'] });
    made.clusters = made.clusters.slice(0, 4);
    expect(made.decide().spec('web')?.noRoom?.refused).toEqual(['d', 'b']);
  });

  it('what nobody lets in has no want of room', () => {
    const made = world({ a: 4 }, 3);
    made.clusters = [cluster('a', { capacity: { pods: '4' }, unschedulable: true })];
    expect(made.decide().spec('web')).toMatchObject({ clusters: [], blocked: true });
    expect(made.spec('web')?.noRoom).toBeUndefined();
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
