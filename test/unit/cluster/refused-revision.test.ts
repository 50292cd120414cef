import { expect, test } from 'vitest';
import { isRefusedRevision, refusedRevision } from '../../../cluster/refused-revision.ts';
import { revisionOf } from '../../../cluster/revision.ts';
import type { KubeObject } from '../../../kube/object.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };

function workload(kind: string, more: { spec?: object; said?: object; deletionTimestamp?: string } = {}) {
  const { said = { refused: 'no', patch: [] }, spec, ...metadata } = more;
  const annotations = {
    why: 'x',
    'atoll.dev/clusters': 'east',
    'deployment.kubernetes.io/revision': '1',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    'atoll.dev/pod-admission': JSON.stringify(said),
  };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'web', namespace: 'n', uid: 'u', annotations, ...metadata },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template, ...spec },
  } as KubeObject;
}

test('of a Deployment it is a ReplicaSet, of which nothing is made', () => {
  const made = refusedRevision(workload('Deployment', { spec: { minReadySeconds: 5 } }), 3n) as KubeObject;
  const labels = { app: 'web', 'pod-template-hash': expect.stringMatching(/^[0-9a-f]{10}$/) };
  expect(made).toEqual({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: expect.stringMatching(/^web-[0-9a-f]{10}$/),
      namespace: 'n',
      labels,
      annotations: { why: 'x', 'deployment.kubernetes.io/revision': '3', 'atoll.dev/refused': 'true' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'web',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas: 0,
      minReadySeconds: 5,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { labels } },
    },
  });
  expect([isRefusedRevision(made), revisionOf(made)]).toEqual([true, 3n]);
});

test.each([
  ['StatefulSet', 'controller.kubernetes.io/hash'],
  ['DaemonSet', 'controller-revision-hash'],
])('of a %s it is a ControllerRevision', (kind, label) => {
  const made = refusedRevision(workload(kind), 3n) as KubeObject;
  expect(made).toMatchObject({
    kind: 'ControllerRevision',
    metadata: { labels: { app: 'web', [label]: expect.any(String) }, ownerReferences: [{ kind, uid: 'u' }] },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision: 3,
  });
  expect([isRefusedRevision(made), revisionOf(made)]).toEqual([true, 3n]);
});

test('each template has one of its own, whatever the order of its fields', () => {
  const nameOf = (spec: object) => refusedRevision(workload('Deployment', { spec }), 1n)?.metadata.name;
  const { metadata, spec } = template;
  expect(nameOf({ template: { spec, metadata } })).toBe(nameOf({ template }));
  expect(nameOf({ template: { ...template, spec: { containers: [] } } })).not.toBe(nameOf({ template }));
});

test.each([
  ['nothing is refused', { said: { patch: [] } }],
  ['it is being deleted', { deletionTimestamp: '2026-01-02T03:04:05Z' }],
  ['it is paused', { spec: { paused: true } }],
])('there is none where %s', (_what, more) => {
  expect(refusedRevision(workload('Deployment', more), 1n)).toBeUndefined();
});
