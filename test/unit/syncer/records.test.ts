import { describe, expect, it } from 'vitest';
import type { ShareView } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isBehind, newRecord, sliceOf, type TargetRecord } from '../../../syncer/records.ts';

const view: ShareView = { apiVersion: 'x', kind: 'Share', metadata: {} };
const error = { reason: 'Forbidden', message: 'not here' };
const two = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 3 };
const object = (spec: object, status: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', generation: 3 },
  spec: { replicas: 2, ...spec },
  status,
});
const observed = (share: object) => ({ observed: { generation: 1, share: { replicas: 2, ...share } } });

describe('whether it is heard to wait for its turn', () => {
  it.each<[string, Partial<TargetRecord>, object, boolean]>([
    ['it was applied so', observed({ paused: true }), two, true],
    ['it was not', observed({}), two, false],
    ['refused, and at rest', { ...observed({}), error, waits: true }, two, true],
    ['refused, and never applied since a restart', { error, waits: true }, two, true],
    [
      'refused while it updates',
      { ...observed({}), error, waits: true },
      { ...two, updatedReplicas: 1 },
      false,
    ],
    [
      'refused before it has seen all',
      { ...observed({}), error, waits: true },
      { ...two, observedGeneration: 2 },
      false,
    ],
    ['refused with a pod beyond', { ...observed({}), error, waits: true }, { ...two, replicas: 3 }, false],
    [
      'refused while it waited',
      { ...observed({ paused: true }), error, waits: true },
      { ...two, updatedReplicas: 0 },
      true,
    ],
    [
      'by the cluster’s own admission other replicas, and has not seen yet that it may go on',
      { ...observed({ paused: true }), error: { reason: 'Changed', message: '' }, waits: false },
      two,
      true,
    ],
    ['refused what would let it go on', { ...observed({ paused: true }), error, waits: false }, two, false],
  ])('%s', (_what, record, status, waits) => {
    const slice = sliceOf(view, { ...newRecord(), ...record }, object({}, status));
    expect(slice?.share?.paused ?? false).toBe(waits);
  });

  it('pods of a set below the partition are not to be updated', () => {
    const updateStrategy = { rollingUpdate: { partition: 1 } };
    const set = { ...object({ updateStrategy }, { ...two, updatedReplicas: 1 }), kind: 'StatefulSet' };
    const slice = sliceOf(view, { ...newRecord(), error, waits: true }, set);
    expect(slice?.share).toEqual({ paused: true });
  });
});

it.each<[string, number, number, boolean]>([
  ['that it has yet to come to', 4, 1_000, true],
  ['that it has come to', 3, 1_000, false],
  ['that was written long ago: the cluster was restored', 4, 61_000, false],
])('a watch is behind a write %s', (_, physicalGeneration, ago, is) => {
  const applied = { uid: 'u', physicalGeneration, generation: 1, share: {} };
  expect(isBehind(object({}, {}), { applied, writtenAt: 100_000 - ago }, 100_000)).toBe(is);
});
