import { describe, expect, test } from 'vitest';
import { mismatch } from '../../../cluster/expression.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { reliefOf } from '../../../scheduler/relief.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, type Fields, World } from './world.ts';

const roomy = { capacity: { cpu: '100' } };
const small = { capacity: { cpu: '10' } };
const used = (cpu: number) => new Map([['cpu', parseQuantity(cpu)]]);

describe('of those that take a workload', () => {
  test.each<[string, Record<string, Fields>, string, string]>([
    ['one that says nothing costs nothing', { a: { ...roomy, cost: 1 }, b: small }, 'b', 'none costs less'],
    [
      'the one that costs least',
      { a: { ...roomy, cost: 3 }, b: { ...small, cost: 2 } },
      'b',
      'none costs less',
    ],
    [
      'where all cost the same, that with the most room',
      { a: { ...small, cost: 2 }, b: { ...roomy, cost: 2 } },
      'b',
      'the most room',
    ],
    ['not one that takes nothing', { a: { cost: 1 }, b: { unschedulable: true } }, 'a', 'the most room'],
    [
      'not one that had better be left alone',
      { a: { cost: 1 }, b: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } },
      'a',
      'the most room',
    ],
  ])('%s', (_, all, where, why) => {
    const world = new World(deployment('web'));
    world.clusters = Object.entries(all).map(([name, fields]) => cluster(name, fields));
    world.usage = new Map([['a', used(1)]]);
    const spec = world.decide().spec('web');
    expect(spec?.clusters).toEqual([where]);
    expect(spec?.reasons?.[where]).toContain(why);
  });
});

describe('a cluster that has no nodes', () => {
  const without = (name: string, fields: Fields = {}) => {
    const { status, ...rest } = cluster(name, fields);
    return { ...rest, status: { ...status, allocatable: {} } };
  };
  test.each<[string, PhysicalCluster[], string]>([
    ['is not what has the most room', [without('a'), cluster('b', small)], 'b'],
    ['whatever its administrator lets it have', [without('a', roomy), cluster('b', small)], 'b'],
    ['is not that of one that does not tell, either', [without('a'), cluster('b')], 'b'],
    ['takes what has no other place: nodes may come when pods wait for them', [without('a')], 'a'],
  ])('%s', (_, all, where) => {
    const world = new World(deployment('web'));
    world.clusters = all;
    expect(world.decide().spec('web')?.clusters).toEqual([where]);
  });

  test('gets nothing by a rebalance', () => {
    const to = { name: 'b', cluster: without('b', small), used: used(0) };
    const from = { name: 'a', cluster: cluster('a', small), used: used(9) };
    expect(reliefOf(used(1), from, to)).toBeUndefined();
  });
});

test('an expression sees it', () => {
  expect(mismatch('cluster.cost < 3', 'p', cluster('a', { cost: 2 }))).toBeUndefined();
  expect(mismatch('cluster.cost < 3', 'p', cluster('a', { cost: 3 }))).toBeDefined();
});

describe('a rebalance', () => {
  test.each<[number | undefined, number | undefined, boolean]>([
    [undefined, undefined, true],
    [1, 1, true],
    [2, 1, true],
    [1, 2, false],
    [undefined, 1, false],
  ])('from a cost of %s to one of %s moves something: %s', (from, to, moves) => {
    const load = (name: string, cost: number | undefined, cpu: number) => ({
      name,
      cluster: cluster(name, { ...small, ...(cost !== undefined && { cost }) }),
      used: used(cpu),
    });
    expect(reliefOf(used(1), load('a', from, 9), load('b', to, 0)) !== undefined).toBe(moves);
  });
});
