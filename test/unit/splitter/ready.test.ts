import { describe, expect, it } from 'vitest';
import type { ClusterSlice } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isReady } from '../../../splitter/ready.ts';

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {},
  spec: { type: 'LoadBalancer' },
};
const claim: KubeObject = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {} };
const said = (status: Record<string, unknown>, rest: Partial<ClusterSlice> = {}): ClusterSlice => ({
  present: true,
  share: {},
  status,
  ...rest,
});
const otherPort = said({}, { error: { reason: 'Changed', message: 'x' } });
const address = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } };

describe('isReady, beside other clusters', () => {
  it.each([
    ['an address of its own', service, said(address), [], true],
    ['none, and another cluster has one', service, said({}), [said(address)], false],
    ['none anywhere: nothing is lost by leaving', service, said({}), [said({})], true],
    ['none, and the one that had it is gone', service, said({}), [said(address, { present: false })], true],
    ['unbound beside a bound claim', claim, said({ phase: 'Pending' }), [said({ phase: 'Bound' })], false],
    ['unbound everywhere', claim, said({ phase: 'Pending' }), [said({ phase: 'Pending' })], false],
    ['not applied', service, { present: false }, [], false],
    ['another node port, and the one asked for elsewhere', service, otherPort, [said({})], false],
    ['another node port, as everywhere', service, otherPort, [otherPort], true],
    ['another node port, and it is nowhere else', service, otherPort, [{ present: false }], true],
    ['refused there', service, said({}, { error: { reason: 'NotOwned', message: 'x' } }), [], false],
  ])('%s', (_what, root, slice, others, ready) => {
    expect(isReady(root, { phase: 'Joining' }, slice, others)).toBe(ready);
  });
});

describe('isReady, of what is updated in turns', () => {
  const of = (kind: string): KubeObject => ({ apiVersion: 'apps/v1', kind, metadata: {}, spec: {} });
  const old = {
    replicas: 2,
    availableReplicas: 2,
    updatedReplicas: 0,
    currentRevision: '1',
    updateRevision: '2',
  };
  it.each([
    ['old pods, while it has no turn', 'Deployment', old, true, true],
    ['old pods, while it has its turn', 'Deployment', old, false, false],
    ['too few pods', 'Deployment', { ...old, availableReplicas: 1 }, true, false],
    ['old pods of a set, while it has no turn', 'StatefulSet', old, true, true],
    ['old pods of a set, while it has its turn', 'StatefulSet', old, false, false],
    ['too few pods of a set', 'StatefulSet', { ...old, availableReplicas: 1 }, true, false],
  ])('%s', (_what, kind, status, paused, ready) => {
    const slice = said(status, { share: { replicas: 2, paused } });
    expect(isReady(of(kind), { phase: 'Joining', replicas: 2, paused }, slice)).toBe(ready);
  });
});

describe('isReady, of a ReplicaSet that a Deployment there has adopted', () => {
  const root: KubeObject = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { generation: 3 } };
  const joining = { phase: 'Joining', replicas: 2, scaled: 1 } as const;
  const none = { replicas: 0, availableReplicas: 0 };
  const share = { replicas: 0, scaled: 1 };
  const owner = { uid: 'web' };
  it.each<[string, ClusterSlice, boolean]>([
    [
      'it is left without replicas',
      { present: true, observedGeneration: 3, share, status: none, owner },
      true,
    ],
    ['it has no owner there', { present: true, observedGeneration: 3, share, status: none }, false],
    [
      'what was applied is older',
      { present: true, observedGeneration: 2, share, status: none, owner },
      false,
    ],
    ['that one has deleted it', { present: false, owner }, true],
    ['somebody else has', { present: false }, false],
    [
      'it is refused there',
      { present: true, observedGeneration: 3, share, owner, error: { reason: 'Forbidden', message: 'x' } },
      false,
    ],
  ])('%s', (_what, slice, ready) => {
    expect(isReady(root, joining, slice)).toBe(ready);
  });
});

describe('isReady, where the cluster’s own admission changes the replicas', () => {
  const error = {
    reason: 'Changed',
    message: 'of 2 replicas that were applied others are in its spec there',
  };
  const status = (n: number) => ({ replicas: n, availableReplicas: n, updatedReplicas: n });
  it.each<[string, string, Record<string, unknown>, boolean]>([
    ['more are as good', 'Deployment', status(3), true],
    ['fewer are not what was asked for', 'Deployment', status(1), false],
    ['more of a set', 'StatefulSet', status(3), true],
  ])('%s', (_what, kind, said, ready) => {
    const root: KubeObject = { apiVersion: 'apps/v1', kind, metadata: {}, spec: {} };
    const slice: ClusterSlice = { present: true, share: { replicas: 2 }, status: said, error };
    expect(isReady(root, { phase: 'Joining', replicas: 2 }, slice)).toBe(ready);
  });
});
