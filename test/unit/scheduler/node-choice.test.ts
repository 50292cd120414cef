import { describe, expect, test } from 'vitest';
import { lookAt } from '../../../scheduler/decide.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, type Fields, namespace, World } from './world.ts';

const at = (name: string, nodeLabels: string[], fields: Fields = {}) => {
  const { status, ...rest } = cluster(name, fields);
  return { ...rest, metadata: { name, labels: { tier: 'one' } }, status: { ...status, nodeLabels } };
};
const host = (name: string) => [`kubernetes.io/hostname=${name}`, `metadata.name=${name}`];
const [east, north, west] = [at('east', host('e')), at('north', host('n')), at('west', host('w'))];
const onHost = (name: string) => ({ nodeSelector: { 'kubernetes.io/hostname': name } });
const lacks = (name: string) => `no node there has the label kubernetes.io/hostname=${name}, as its pods ask`;

describe('a workload whose pods ask for a node', () => {
  test.each([
    ['by its host name', onHost('w')],
    ['by its name', { nodeName: 'w' }],
  ])('%s goes where that is', (_, podSpec) => {
    const world = new World(deployment('web', { podSpec }));
    world.clusters = [east, north, west];
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
    expect(world.spec('web')?.reasons?.['east']).toContain('no node there has');
  });

  test('that must not have a label goes where one has not', () => {
    const nodeAffinity = (operator: string, values?: string[]) => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator, ...(values && { values }) }] }],
          },
        },
      },
    });
    for (const podSpec of [nodeAffinity('DoesNotExist'), nodeAffinity('NotIn', ['a', 'b'])]) {
      const world = new World(deployment('web', { podSpec }));
      world.clusters = [at('east', [...host('e'), 'gpu=a']), at('west', ['!gpu', ...host('w'), 'gpu=a'])];
      expect(world.decide().spec('web')?.clusters).toEqual(['west']);
      expect(world.spec('web')?.reasons?.['east']).toContain('no node there lacks the label gpu');
    }
  });

  test('goes where that is though the rest of its Namespace is elsewhere', () => {
    const world = new World(deployment('other'));
    world.clusters = [east, west];
    expect(world.decide().spec('other')?.clusters).toEqual(['east']);
    world.objects.push(deployment('web', { podSpec: onHost('w') }));
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
    expect(world.spec('other')?.clusters).toEqual(['east']);
  });

  test('goes where it would without that, and that is told, where no cluster has such a node', () => {
    const world = new World(deployment('web', { podSpec: onHost('x') }));
    world.clusters = [east, west];
    expect(world.decide().spec('web')).toMatchObject({
      clusters: ['east'],
      reasons: { east: `it has the most room, though ${lacks('x')}` },
    });
    world.clusters = [at('east', host('x')), west];
    expect(world.decide().spec('web')?.reasons).toEqual({ east: 'it has the most room' });
  });

  test('and what is kept of the decision is the words, not the clusters that it was made among', () => {
    const objects = [deployment('web', { podSpec: onHost('x') })];
    const rest = { namespace: namespace(), placements: [], usage: new Map(), now: 0 };
    const [web] = lookAt({ ...rest, objects, clusters: [east, west] }).workloads;
    expect(web?.decided.misfits).toEqual(new Map([['east', lacks('x')]]));
  });

  test('stays where it is when it asks for another node, and that is told', () => {
    const world = new World(deployment('web'));
    world.clusters = [east, west];
    expect(world.decide().spec('web')?.clusters).toEqual(['east']);
    world.objects = [deployment('web', { podSpec: onHost('w') })];
    expect(world.decide().spec('web')).toMatchObject({
      clusters: ['east'],
      reasons: { east: `it has the most room, though ${lacks('w')}` },
    });
  });

  test('goes where its annotation says, and that is told', () => {
    const world = new World(deployment('web', { podSpec: onHost('w'), metadata: annotations('east') }));
    world.clusters = [east, west];
    expect(world.decide().spec('web')).toMatchObject({
      clusters: ['east'],
      reasons: { east: `named by its annotation, though ${lacks('w')}` },
    });
  });

  test('of so many clusters those with such a node come first', () => {
    const policy = (count: number) => ({
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PlacementPolicy',
      metadata: { name: 'p', namespace: 'shop' },
      spec: { clusters: { labelSelector: { matchLabels: { tier: 'one' } }, count } },
    });
    const world = new World(deployment('web', { podSpec: onHost('w') }));
    world.clusters = [east, north, west];
    world.policies = [layer([policy(1)])];
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
    world.policies = [layer([policy(2)])];
    expect(world.decide().spec('web')?.clusters).toEqual(['east', 'west']);
  });

  test.each([
    ['of one zone', ['east', 'west'], { west: 'two' }],
    ['of as many zones as it has pods', ['west'], { north: 'two', west: 'three' }],
  ])('is spread over clusters with such a node first: %s', (_, expected, zones) => {
    const over = { topologyKey: 'zone' };
    const policy = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PlacementPolicy',
      metadata: { name: 'p', namespace: 'shop' },
      spec: { clusters: { spread: over } },
    };
    const all: Record<string, string> = { east: 'one', north: 'one', ...zones };
    const replicas = expected.length;
    const world = new World(deployment('web', { podSpec: onHost('w'), replicas }));
    world.clusters = [east, north, west].map((one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { zone: all[one.metadata.name] ?? '' } },
    }));
    world.policies = [layer([policy])];
    expect(world.decide().spec('web')?.clusters).toEqual(expected);
    expect(world.spec('web')?.reasons?.['north']).toBe(lacks('w'));
  });

  test('overflows to one with such a node first', () => {
    const metadata = { annotations: { 'atoll.dev/overflow': 'true' } };
    const world = new World(deployment('web', { podSpec: onHost('w'), replicas: 2, metadata }));
    world.clusters = [east, north, west];
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
    expect(world.spec('web')?.reasons?.['east']).toBe(lacks('w'));
  });

  test('overflows to one with such a node first, though it be of a later group', () => {
    const metadata = { annotations: { 'atoll.dev/overflow': 'true' } };
    const policy = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PlacementPolicy',
      metadata: { name: 'p', namespace: 'shop' },
      spec: { clusters: { groups: [['east'], ['north', 'west']] } },
    };
    const world = new World(deployment('web', { podSpec: onHost('w'), replicas: 2, metadata }));
    world.clusters = [east, north, west];
    world.policies = [layer([policy])];
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
    expect(world.spec('web')?.reasons?.['east']).toBe(lacks('w'));
    world.clusters = [east, north, at('west', host('x'))];
    expect(world.decide().spec('web')?.clusters, 'no node anywhere').toEqual(['west']);
    world.clusters = [at('east', host('w')), north, at('west', host('w'))];
    expect(world.decide().spec('web')?.clusters, 'a node in the first group').toEqual(['east']);
    const none = new World(deployment('none', { podSpec: onHost('w'), replicas: 0, metadata }));
    none.clusters = [east, north, west];
    none.policies = world.policies;
    expect(none.decide().spec('none')?.clusters, 'none of it').toEqual(['west']);
  });

  test('leaves a cluster that is drained for one with such a node', () => {
    const world = new World(deployment('web', { podSpec: onHost('w') }));
    world.clusters = [at('east', host('w')), north, west];
    expect(world.decide().spec('web')?.clusters).toEqual(['east']);
    world.clusters = [at('east', host('w'), { unschedulable: true, drain: true }), north, west];
    expect(world.decide().spec('web')?.clusters).toEqual(['west']);
  });

  test('looks through the labels of a cluster once, however many others ask', () => {
    const world = new World(...['a', 'b', 'c'].map((name) => deployment(name, { podSpec: onHost('w') })));
    let reads = 0;
    const counted = { ...west, status: { ...west.status } };
    Object.defineProperty(counted.status, 'nodeLabels', {
      get() {
        reads++;
        return host('w');
      },
    });
    world.clusters = [east, counted];
    world.decide();
    expect(['a', 'b', 'c'].map((name) => world.spec(name)?.clusters)).toEqual(Array(3).fill(['west']));
    const first = reads;
    world.objects.push(deployment('d', { podSpec: onHost('w') }));
    expect(world.decide().spec('d')?.clusters).toEqual(['west']);
    expect([first > 0, reads]).toEqual([true, first]);
  });

  test('a Pod of its own that has a node goes wherever there is room', () => {
    const pod = placed('Pod', 'p', { spec: { nodeName: 'w', containers: [] } });
    const world = new World(pod);
    world.clusters = [east, west];
    expect(world.decide().spec('p')?.clusters).toEqual(['east']);
  });
});
