import { describe, expect, test } from 'vitest';
import type { Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { coveredBy, withDisruptions } from '../../../splitter/disruption.ts';

const active: Share = { phase: 'Active' };
const shares = { east: active, west: active };
const budget = (spec: object): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b' },
  spec,
});
const covered = (total: number, there: Record<string, number>) => ({
  total,
  there: new Map(Object.entries(there)),
});
const least = (...n: number[]) => ({ east: { minAvailable: n[0] }, west: { minAvailable: n[1] } });
const most = (...n: number[]) => ({ east: { maxUnavailable: n[0] }, west: { maxUnavailable: n[1] } });

describe('a PodDisruptionBudget over two clusters', () => {
  test.each([
    ['3 of 3+2', { minAvailable: 3 }, covered(5, { east: 3, west: 2 }), least(2, 1)],
    ['a half of 3+2', { minAvailable: '50%' }, covered(5, { east: 3, west: 2 }), least(2, 1)],
    ['4 of 3+2: each may lose one', { minAvailable: 4 }, covered(5, { east: 3, west: 2 }), least(2, 1)],
    ['all of 3+2: none may', { minAvailable: 5 }, covered(5, { east: 3, west: 2 }), least(3, 2)],
    ['more than there are', { minAvailable: 9 }, covered(5, { east: 3, west: 2 }), least(3, 2)],
    ['none', { minAvailable: 0 }, covered(5, { east: 3, west: 2 }), least(0, 0)],
    ['1 missing of 3+2', { maxUnavailable: 1 }, covered(5, { east: 3, west: 2 }), most(1, 1)],
    ['2 missing of 3+2', { maxUnavailable: 2 }, covered(5, { east: 3, west: 2 }), most(1, 1)],
    ['none missing', { maxUnavailable: 0 }, covered(5, { east: 3, west: 2 }), most(0, 0)],
    ['40 % missing of 6+4', { maxUnavailable: '40%' }, covered(10, { east: 6, west: 4 }), most(2, 2)],
    ['a hand-over with all in both', { minAvailable: 3 }, covered(4, { east: 4, west: 4 }), least(3, 3)],
    ['a hand-over that has begun', { minAvailable: 3 }, covered(4, { east: 4, west: 1 }), least(3, 0)],
  ])('%s', (_name, spec, pods, expected) => {
    expect(withDisruptions(budget(spec), shares, pods)).toMatchObject(expected);
  });

  test.each([
    ['on one cluster', { east: 5 }],
    ['of pods that are nowhere', {}],
  ])('%s is whole', (_name, there) => {
    const before = { east: { ...active, minAvailable: 1 }, west: active };
    expect(withDisruptions(budget({ minAvailable: 3 }), before, covered(5, there))).toEqual(shares);
  });

  test('what cannot be counted leaves it whole', () => {
    expect(withDisruptions(budget({ minAvailable: 3 }), shares, undefined)).toEqual(shares);
    expect(
      withDisruptions(budget({ minAvailable: 'few' }), shares, covered(5, { east: 3, west: 2 })),
    ).toEqual(shares);
  });
});

const workload = (kind: string, replicas: number, of: Record<string, Share>, scaled?: number) => ({
  root: { apiVersion: 'apps/v1', kind, metadata: {}, spec: { replicas } },
  placement: {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: {},
    spec: { shares: of, ...(scaled !== undefined && { scale: { replicas: scaled } }) },
  } as unknown as Placement,
});

describe('coveredBy', () => {
  const all = budget({ minAvailable: 1, selector: {} });

  test('counts all that it covers, by cluster, but for what leaves', () => {
    const web = workload('Deployment', 5, {
      east: { ...active, replicas: 3 },
      west: { ...active, replicas: 2 },
    });
    const more = workload('StatefulSet', 1, {
      east: { phase: 'Leaving', replicas: 1 },
      west: { phase: 'Joining', replicas: 1 },
    });
    expect(coveredBy(all, [web, more])).toEqual(covered(6, { east: 3, west: 3 }));
  });

  test('takes what an autoscaler has made of it', () => {
    const web = workload('Deployment', 2, { east: { ...active, replicas: 8 } }, 8);
    expect(coveredBy(all, [web])).toEqual(covered(8, { east: 8 }));
  });

  test('a DaemonSet cannot be counted, nor nothing', () => {
    expect(coveredBy(all, [workload('DaemonSet', 1, { east: active })])).toBeUndefined();
    expect(coveredBy(all, [])).toBeUndefined();
  });

  test('nor is one pod of a StatefulSet, which is on one cluster: each has the whole budget', () => {
    const set = workload('StatefulSet', 4, {
      east: { ...active, replicas: 1, ordinalsStart: 0 },
      west: { ...active, replicas: 3, ordinalsStart: 1 },
    });
    const root = { ...set.root, metadata: { name: 'db' } };
    const ofOne = budget({
      minAvailable: 1,
      selector: { matchLabels: { 'statefulset.kubernetes.io/pod-name': 'db-0' } },
    });
    const pods = coveredBy(ofOne, [{ ...set, root }]);
    expect(withDisruptions(ofOne, shares, pods)).toEqual(shares);
  });
});
