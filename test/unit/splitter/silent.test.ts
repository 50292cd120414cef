import { describe, expect, it } from 'vitest';
import type { Silence } from '../../../cluster/silence.ts';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';

const active: Share = { phase: 'Active' };
const since = '2026-01-01T00:00:00Z';
const words = `cluster b has not answered since ${since}`;
const silence = (cluster: string): Silence | undefined => (cluster === 'b' ? { since, words } : undefined);
const slice = (status: Record<string, unknown>, observedGeneration = 2): ClusterSlice => ({
  present: true,
  observedGeneration,
  status,
});
const root = (kind: string, fields: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', generation: 2 },
  ...fields,
});
/** `b` is silent. */
const fold = (object: KubeObject, slices: Record<string, ClusterSlice>, shares?: Record<string, Share>) =>
  foldStatus(
    object,
    shares ?? Object.fromEntries(Object.keys(slices).map((c) => [c, active])),
    slices,
    silence,
  );
const heard = {
  type: 'ClustersHeard',
  status: 'False',
  reason: 'ClusterSilent',
  message: words,
  lastTransitionTime: since,
};
const condition = (type: string, status: string, more: object = {}) => ({ type, status, ...more });

describe('of a silent cluster', () => {
  const three = { replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 };
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['Deployment', three, { ...three, unavailableReplicas: 3 }],
    ['StatefulSet', three, { ...three, collisionCount: 0 }],
    ['ReplicaSet', { replicas: 3, readyReplicas: 3 }, { replicas: 3, readyReplicas: 3 }],
    [
      'DaemonSet',
      {
        desiredNumberScheduled: 2,
        currentNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberReady: 2,
        numberAvailable: 2,
      },
      {
        desiredNumberScheduled: 4,
        currentNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberReady: 2,
        numberAvailable: 2,
        numberUnavailable: 2,
        numberMisscheduled: 0,
      },
    ],
    ['Job', { active: 1, succeeded: 2, ready: 1 }, { active: 1, succeeded: 4, ready: 1 }],
  ])('no pod of a %s counts, and a condition says so', (kind, status, counts) => {
    const before = root(kind, { spec: { replicas: 6 }, status: { observedGeneration: 1 } });
    const { observedGeneration, ...rest } = fold(before, { a: slice(status), b: slice(status) }) ?? {};
    expect(rest).toEqual({ ...counts, conditions: [heard] });
    expect(observedGeneration).toBe(kind === 'Job' ? undefined : 1);
  });

  it('nothing counts even while it leaves', () => {
    const shares: Record<string, Share> = { a: active, b: { phase: 'Leaving' } };
    const status = fold(
      root('Deployment', { spec: { replicas: 6 } }),
      { a: slice({ replicas: 2 }), b: slice(three) },
      shares,
    );
    expect(status).toEqual({ observedGeneration: 2, replicas: 2, conditions: [heard] });
  });

  it('a budget allows nothing', () => {
    const said = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
    expect(fold(root('PodDisruptionBudget'), { a: slice(said), b: slice(said) })).toEqual({
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 4,
      expectedPods: 6,
    });
  });

  it.each([
    ['2 of 6', 2, 'False'],
    ['5 of 6', 5, 'True'],
  ])('a Deployment with %s elsewhere is as available as that', (_name, there, expected) => {
    const conditions = [
      condition('Available', 'True'),
      condition('Progressing', 'True', { message: 'done' }),
    ];
    const status = fold(root('Deployment', { spec: { replicas: 6 } }), {
      a: slice({ replicas: there, availableReplicas: there, conditions }),
      b: slice({ replicas: 3, availableReplicas: 3, conditions }),
    });
    expect(status?.['conditions']).toMatchObject([
      { type: 'Available', status: expected },
      { type: 'Progressing', status: 'Unknown', reason: 'ClusterSilent', message: words },
      heard,
    ]);
  });

  it('a Deployment of which it was to wait for its turn is as unknown as if it had not been', () => {
    const paused = condition('Progressing', 'Unknown', { reason: 'DeploymentPaused' });
    const done = condition('Progressing', 'True', { reason: 'NewReplicaSetAvailable' });
    const status = fold(
      root('Deployment', { spec: { replicas: 6 } }),
      { a: slice({ ...three, conditions: [done] }), b: slice({ ...three, conditions: [paused] }) },
      { a: active, b: { phase: 'Active', replicas: 3, paused: true } },
    );
    expect(status?.['conditions']).toMatchObject([
      { type: 'Progressing', status: 'Unknown', reason: 'ClusterSilent', message: words },
      heard,
    ]);
  });

  it('a Job that was complete stays complete', () => {
    const conditions = [condition('Complete', 'True')];
    const status = fold(root('Job'), { a: slice({ conditions }), b: slice({ conditions }) });
    expect(status?.['conditions']).toMatchObject([{ type: 'Complete', status: 'True' }, heard]);
  });

  it('a Pod is not ready and Unknown, and one that has ended stays as it ended', () => {
    const running = {
      phase: 'Running',
      conditions: [condition('Initialized', 'True'), condition('Ready', 'True', { lastTransitionTime: 'x' })],
      containerStatuses: [{ name: 'c', ready: true }],
    };
    expect(fold(root('Pod'), { b: slice(running) })).toEqual({
      phase: 'Running',
      reason: 'Unknown',
      message: words,
      conditions: [
        condition('Initialized', 'True'),
        {
          ...condition('Ready', 'False', { lastTransitionTime: since }),
          reason: 'NodeStatusUnknown',
          message: words,
        },
      ],
      containerStatuses: [{ name: 'c', ready: false }],
    });
    const ended = { phase: 'Succeeded', containerStatuses: [{ name: 'c', ready: false }] };
    expect(fold(root('Pod'), { b: slice(ended) })).toEqual(ended);
  });
});
