import { expect, test } from 'vitest';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { conditionsOf } from '../../../splitter/conditions.ts';
import { atRest } from '../../../splitter/handover.ts';

const deployment = (paused: boolean, kind = 'Deployment'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: { replicas: 2, ...(paused && { paused }) },
});
const halted =
  'waiting for west (its rollout is paused, so none of its pods is made there; kubectl rollout resume); until then it stays on east';
const joining = 'waiting for west; until then it stays on east';

test.each<[string, KubeObject, number, string]>([
  ['its rollout is paused, and none is there', deployment(true), 0, halted],
  ['its rollout is paused, and all are there, and not ready', deployment(true), 2, joining],
  ['its rollout is not paused', deployment(false), 0, joining],
  ['nothing else is paused so', deployment(true, 'ReplicaSet'), 0, joining],
])('whom a move waits for: %s', (_what, root, updatedReplicas, message) => {
  const spec = { clusters: ['west'], ref: { kind: root.kind } } as unknown as NonNullable<Placement['spec']>;
  const placement = { metadata: { name: 'web' }, spec } as Placement;
  const shares: Record<string, Share> = {
    east: { phase: 'Active', replicas: 2 },
    west: { phase: 'Joining', replicas: 2 },
  };
  const slices: Record<string, ClusterSlice> = { west: { present: true, status: { updatedReplicas } } };
  const input = { ...atRest, placement, shares, slices, waitingFor: ['west'], gone: false, root, now: 0 };
  const settled = conditionsOf(input).find(({ type }) => type === 'Settled');
  expect(settled).toMatchObject({ status: 'False', reason: 'Joining', message });
});
