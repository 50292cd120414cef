import { describe, expect, it } from 'vitest';
import { mismatch } from '../../../cluster/expression.ts';
import { expressionProblem } from '../../../cluster/policy-expression.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, World } from './world.ts';

const east = (): PhysicalCluster => {
  const taints = [{ key: 'gpu', effect: 'NoSchedule' as const }];
  const made = cluster('east', { taints, capacity: { pods: '50', cpu: '8' } });
  return {
    ...made,
    metadata: { ...made.metadata, labels: { region: 'eu', 'example.com/cost': '3' } },
    status: { ...made.status, version: 'v1.36.3', allocatable: { pods: '30', memory: '64Gi' } },
  };
};

describe('a cluster', () => {
  it.each([
    'cluster.name == "east"',
    'cluster.labels.region in ["eu", "us"]',
    'int(cluster.labels["example.com/cost"]) < 5',
    'cluster.taints.exists(t, t.key == "gpu" && t.value == "" && t.effect == "NoSchedule")',
    'semver(cluster.version, true).isGreaterThan(semver("1.35.0"))',
    'quantity(cluster.capacity.memory).isGreaterThan(quantity("32Gi"))',
    'cluster.capacity.pods == "30" && cluster.capacity.cpu == "8"',
    '"region" in cluster.labels',
    'cluster.cost == 0',
  ])('is %s', (expression) => {
    expect(mismatch(expression, 'p', east())).toBeUndefined();
    expect(expressionProblem(expression)).toBeUndefined();
  });

  it.each<[string, string]>([
    ['cluster.name == "west"', 'it is not what the expression of p asks for'],
    ['cluster.labels.room == "a"', 'the expression of p fails: no such key: room'],
    ['cluster.name', 'the expression of p fails: must evaluate to bool'],
    ['cluster.name ==', 'the expression of p fails: '],
    ['1 / 0 == 1', 'the expression of p fails: division by zero'],
    [
      '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, true)))))',
      'the expression of p fails: operation cancelled: actual cost limit exceeded',
    ],
  ])('is not %s', (expression, why) => {
    expect(mismatch(expression, 'p', east())).toContain(why);
    const it = east();
    expect(mismatch(expression, 'p', it)).toBe(mismatch(expression, 'p', it));
  });
});

it('all that match are had, and the others say why not', () => {
  const made = new World(deployment('web'));
  const expression = 'cluster.name != "b"';
  const spec = { clusters: { expression } };
  const metadata = { name: 'p', namespace: 'shop' };
  const policy = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PlacementPolicy', metadata, spec };
  made.policies = [layer([policy])];
  expect(made.decide().spec('web')).toMatchObject({
    clusters: ['a', 'c'],
    reasons: { a: 'by PlacementPolicy p', b: 'it is not what the expression of PlacementPolicy p asks for' },
  });
});
