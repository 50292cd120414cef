import { describe, expect, it } from 'vitest';
import type { KindRule } from '../../../cluster/placed-resource.ts';
import { asRuled } from '../../../cluster/ruled.ts';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';
import { planFor } from '../../../splitter/plan.ts';
import { isReady } from '../../../splitter/ready.ts';

const root = (rule: KindRule, fields: object = {}) =>
  asRuled(
    {
      apiVersion: 'fleet.example.com/v1',
      kind: 'Fleet',
      metadata: { name: 'x', generation: 2 },
      spec: { size: 4 },
      ...fields,
    },
    rule,
  );
const slice = (status: Record<string, unknown>, observedGeneration = 2): ClusterSlice => ({
  present: true,
  observedGeneration,
  share: { replicas: 2 },
  status,
});
const active: Share = { phase: 'Active', replicas: 2 };
const counted: KindRule = { specReplicasPath: '.spec.size' };

describe('the status of several clusters', () => {
  const fold = (rule: KindRule, slices: Record<string, ClusterSlice>, fields: object = {}) =>
    foldStatus(root(rule, fields), Object.fromEntries(Object.keys(slices).map((c) => [c, active])), slices);

  it('adds up, has the worst word, and what all say alike', () => {
    const rule = {
      ...counted,
      status: {
        sums: ['.status.pods.ready'],
        worst: [{ path: '.status.phase', values: ['Bad', 'Moving', 'Good'] }],
      },
    };
    const a = slice({ pods: { ready: 1 }, phase: 'Good', hash: 'h', only: 1, observedGeneration: '9' });
    const b = slice({ pods: { ready: 2 }, phase: 'Moving', hash: 'h', observedGeneration: '3' });
    expect(fold(rule, { a, b })).toEqual({
      pods: { ready: 3 },
      phase: 'Moving',
      hash: 'h',
      observedGeneration: '2',
    });
  });

  it('of one alone is its own word, with the generation of the whole', () => {
    expect(fold(counted, { a: slice({ replicas: 2, other: { deep: [1] }, observedGeneration: 9 }) })).toEqual(
      {
        replicas: 2,
        other: { deep: [1] },
        observedGeneration: 2,
      },
    );
  });

  it.each<[string, string, string, string]>([
    ['one that says no', 'True', 'False', 'False'],
    ['all that say yes', 'True', 'True', 'True'],
  ])('has the condition of %s', (_what, one, other, expected) => {
    const said = (status: string) => slice({ conditions: [{ type: 'Available', status }] });
    expect(fold(counted, { a: said(one), b: said(other) })).toMatchObject({
      conditions: [{ type: 'Available', status: expected }],
    });
  });

  it('says of what is nowhere any more that nothing of it is there', () => {
    expect(foldStatus(root(counted, { status: { replicas: 4 } }), {}, {})).toEqual({ replicas: 0 });
  });

  it('keeps an older generation while a cluster has not seen the new one', () => {
    const status = { observedGeneration: 1 };
    const slices = { a: slice({ observedGeneration: 5 }), b: slice({ observedGeneration: 5 }, 1) };
    expect(fold(counted, slices, { status })).toMatchObject({ observedGeneration: 1 });
  });
});

describe('in place', () => {
  it.each<[string, KindRule, Record<string, unknown>, boolean]>([
    ['as many as are asked for', counted, { availableReplicas: 2 }, true],
    ['that are ready, where it says no more', counted, { readyReplicas: 2 }, true],
    ['fewer', counted, { availableReplicas: 1, readyReplicas: 2 }, false],
    ['of another template', counted, { availableReplicas: 2, updatedReplicas: 1 }, false],
    ['nothing said', counted, {}, false],
    ['by expression', { ...counted, ready: 'self.status.up >= self.spec.size' }, { up: 2 }, true],
    ['not by expression', { ...counted, ready: 'self.status.up >= self.spec.size' }, { up: 1 }, false],
    ['an expression that fails', { ...counted, ready: 'self.status.up >= self.spec.size' }, {}, false],
    ['an expression that says no yes', { ready: '"true"' }, {}, false],
    [
      'one that takes too long',
      {
        ready:
          '[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, true))))))',
      },
      {},
      false,
    ],
    ['in full, without a condition', {}, {}, true],
    ['in full, and Ready', {}, { conditions: [{ type: 'Ready', status: 'True' }] }, true],
    ['in full, and not Available', {}, { conditions: [{ type: 'Available', status: 'Unknown' }] }, false],
  ])('%s', (_what, rule, status, expected) => {
    const share: Share = rule.specReplicasPath ? active : { phase: 'Active' };
    const said = rule.specReplicasPath ? slice(status) : { ...slice(status), share: {} };
    expect(isReady(root(rule), share, said)).toBe(expected);
  });
});

it('is divided by its own replicas, or had in full; Recreate stops first', () => {
  const plan = (rule: KindRule) => planFor(root(rule), ['a', 'b'], {});
  expect(Object.fromEntries(plan(counted).goal)).toEqual({ a: { replicas: 2 }, b: { replicas: 2 } });
  expect(plan({})).toMatchObject({ mode: 'whole', total: 1 });
  expect(plan(counted).once).toBeUndefined();
  expect(plan({ ...counted, strategy: 'Recreate' }).once).toBe(true);
});
