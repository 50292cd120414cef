import { expect, test } from 'vitest';
import { logicalClusterFinalizer } from '../../../cluster/names.ts';
import { decideWorkspace } from '../../../controller/workspace/decide.ts';

const own = { name: 'w', uid: 'u', finalizers: [logicalClusterFinalizer] };
const inside = (uid?: string) =>
  ({
    metadata: { name: 'cluster', finalizers: [logicalClusterFinalizer] },
    spec: { ...(uid !== undefined && { owner: { uid } }) },
    status: { phase: 'Ready' },
  }) as never;
const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };

test.each([
  ['its own is ended', { ...own, ...gone }, 'u', 'end-logical-cluster'],
  ['one of nobody is ended', { ...own, ...gone }, undefined, 'end-logical-cluster'],
  ['another Workspace’s is left as it is', { ...own, ...gone }, 'v', 'release'],
  ['its own is made ready', own, 'u', 'make-ready'],
  ['another Workspace’s is not furnished', own, 'v', 'nothing'],
])('of the logical cluster that a Workspace names, %s', (_, metadata, owner, step) => {
  const named = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata,
    spec: { cluster: 'c' },
  };
  const decided = decideWorkspace({ cluster: 'root', path: 'root' }, named, inside(owner), 'new');
  expect(decided.do).toBe(step);
});
