import { expect, test } from 'vitest';
import type { ClusterSlice } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { standingOf } from '../../../splitter/standing.ts';

const root: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { generation: 2 }, spec: {} };
const error = (reason: string) => ({ reason, message: 'x' });
const status = (replicas: number, updated: number, available = replicas) => ({
  replicas,
  updatedReplicas: updated,
  availableReplicas: available,
});

/** Of one that has its turn, with four replicas to have. */
test.each<[string, Partial<ClusterSlice>, { isDone: boolean; isRefusing: boolean }]>([
  ['as it is to be', { status: status(4, 4) }, { isDone: true, isRefusing: false }],
  [
    'what refuses gives its turn up',
    { status: status(4, 0), error: error('Invalid') },
    { isDone: false, isRefusing: true },
  ],
  [
    'fewer by its own admission, and all of them updated',
    { status: status(2, 2), error: error('Changed') },
    { isDone: true, isRefusing: false },
  ],
  [
    'fewer, and still on the way: it takes what is applied, and keeps its turn',
    { status: status(2, 1), error: error('Changed') },
    { isDone: false, isRefusing: false },
  ],
  [
    'more, and all of them updated',
    { status: status(6, 6), error: error('Changed') },
    { isDone: true, isRefusing: false },
  ],
  [
    'none at the moment, as with Recreate between two templates',
    { status: status(0, 0), error: error('Changed') },
    { isDone: false, isRefusing: false },
  ],
  [
    'more, and one of them not available',
    { status: status(6, 6, 5), error: error('Changed') },
    { isDone: false, isRefusing: false },
  ],
])('how far an update is: %s', (_what, said, expected) => {
  const slice: ClusterSlice = { present: true, observedGeneration: 2, share: { replicas: 4 }, ...said };
  const share = { phase: 'Active', replicas: 4 } as const;
  expect(standingOf(root, 'east', share, { slices: { east: slice } })).toMatchObject(expected);
});

test('a set of which one is being made anew is not done by those that are there', () => {
  const of = (currentRevision: string) => {
    const said = { ...status(1, 1), currentRevision, updateRevision: 'b' };
    const slice = { present: true, observedGeneration: 2, share: { replicas: 4 }, status: said };
    const slices = { east: { ...slice, error: error('Changed') } };
    const share = { phase: 'Active', replicas: 4 } as const;
    return standingOf({ ...root, kind: 'StatefulSet' }, 'east', share, { slices }).isDone;
  };
  expect([of('a'), of('b')]).toEqual([false, true]);
});
