import { expect, test } from 'vitest';
import { podMaker, podOf, templateFrom } from '../../../../../apiserver/admission/template/pod.ts';
import type { WorkloadKindName } from '../../../../../cluster/kinds.ts';
import type { JsonObject, KubeObject } from '../../../../../kube/object.ts';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'c:1' }] },
};
const workload = (kind: string, spec: object = {}): KubeObject => ({
  apiVersion: kind === 'ReplicationController' ? 'v1' : kind.endsWith('Job') ? 'batch/v1' : 'apps/v1',
  kind,
  metadata: { name: 'web', namespace: 'n', uid: 'u' },
  spec,
});

const cases: [kind: WorkloadKindName, controller: string, owner: string, name: RegExp][] = [
  ['Deployment', 'replicaset-controller', 'ReplicaSet', /^web-[0-9a-f]{10}-[0-9a-f]{5}$/],
  ['ReplicaSet', 'replicaset-controller', 'ReplicaSet', /^web-[0-9a-f]{5}$/],
  ['ReplicationController', 'replication-controller', 'ReplicationController', /^web-[0-9a-f]{5}$/],
  ['StatefulSet', 'statefulset-controller', 'StatefulSet', /^web-0$/],
  ['DaemonSet', 'daemon-set-controller', 'DaemonSet', /^web-[0-9a-f]{5}$/],
  ['Job', 'job-controller', 'Job', /^web-[0-9a-f]{5}$/],
  ['CronJob', 'job-controller', 'Job', /^web-[0-9a-f]{10}-[0-9a-f]{5}$/],
  ['Counted', 'clonesets-controller', 'Counted', /^web-[0-9a-f]{5}$/],
];

test.each(cases)('a pod of a %s', (kind, controller, owner, name) => {
  expect(podMaker({ kind, resource: 'clonesets' }).name).toBe(
    `system:serviceaccount:kube-system:${controller}`,
  );
  const pod = podOf({ kind }, workload(kind), template);
  expect(pod.metadata.name).toMatch(name);
  expect(pod.metadata.namespace).toBe('n');
  expect(pod.metadata.labels).toMatchObject({ app: 'web' });
  expect(pod.metadata.ownerReferences).toEqual([
    expect.objectContaining({ kind: owner, uid: 'u', controller: true }),
  ]);
  expect(pod.metadata.generateName).toBe(`${pod.metadata.ownerReferences?.[0]?.name}-`);
  expect(podOf({ kind }, workload(kind), template)).toEqual(pod);
});

test('in whatever order a template is written, its pod is called the same', () => {
  const { metadata, spec } = template;
  const other = podOf({ kind: 'Deployment' }, workload('Deployment'), { spec, metadata });
  expect(other.metadata.name).toBe(
    podOf({ kind: 'Deployment' }, workload('Deployment'), template).metadata.name,
  );
});

test('a pod has the finalizers of its template', () => {
  const held = { ...template, metadata: { ...template.metadata, finalizers: ['example.com/x'] } };
  const { metadata } = podOf({ kind: 'Deployment' }, workload('Deployment'), held);
  expect(metadata.finalizers).toEqual(['example.com/x']);
});

test('a StatefulSet’s pod has its claims', () => {
  const spec = { volumeClaimTemplates: [{ metadata: { name: 'data' } }] };
  expect(podOf({ kind: 'StatefulSet' }, workload('StatefulSet', spec), template).spec).toMatchObject({
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }],
  });
});

test('a StatefulSet’s pod is its first one, by name, labels and in the DNS of its Service', () => {
  const spec = {
    serviceName: 'peers',
    ordinals: { start: 3 },
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
  };
  const pod = podOf({ kind: 'StatefulSet' }, workload('StatefulSet', spec), template);
  expect(pod.metadata.name).toBe('web-3');
  expect(pod.metadata.labels).toEqual({
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-3',
    'apps.kubernetes.io/pod-index': '3',
  });
  expect(pod.spec).toMatchObject({
    hostname: 'web-3',
    subdomain: 'peers',
    volumes: [{ persistentVolumeClaim: { claimName: 'data-web-3' } }],
  });
  expect(templateFrom(template, pod, structuredClone(pod))).toEqual(template);
});

function answered(change: (pod: KubeObject & { spec: JsonObject }) => void): JsonObject {
  const shown = podOf({ kind: 'Deployment' }, workload('Deployment'), template);
  const token = { name: 'kube-api-access-x', mountPath: '/var/run' };
  const spec = { ...(shown.spec as object), serviceAccountName: 'default', volumes: [{ name: token.name }] };
  shown.spec = { ...spec, containers: [{ name: 'c', image: 'c:1', volumeMounts: [token] }] };
  const pod = structuredClone(shown) as KubeObject & { spec: JsonObject };
  change(pod);
  return templateFrom(template, shown, pod);
}

test('what only the question said is in no template', () => {
  expect(answered(() => {})).toEqual(template);
});

test('what makes a pod somebody else is left out; labels, annotations and the spec count', () => {
  const made = answered((pod) => {
    pod.metadata.name = 'other';
    pod.metadata.namespace = 'other';
    pod.metadata.ownerReferences = [];
    pod.metadata.finalizers = ['x/y'];
    pod.metadata.labels = { ...pod.metadata.labels, more: 'yes' };
    pod.metadata.annotations = { injected: 'yes' };
    pod.spec['nodeName'] = 'there';
  });
  expect(made).toEqual({
    metadata: { labels: { app: 'web', more: 'yes' }, annotations: { injected: 'yes' } },
    spec: { ...template.spec, nodeName: 'there' },
  });
});

test('a token’s mount that an injected container has taken over is not there', () => {
  const made = answered(({ spec }) => {
    const containers = spec['containers'] as JsonObject[];
    containers.unshift({
      name: 'agent',
      volumeMounts: [{ name: 'kube-api-access-x', mountPath: '/t' }, { name: 'own' }],
    });
  });
  expect(made['spec']).toEqual({
    containers: [{ name: 'agent', volumeMounts: [{ name: 'own' }] }, ...template.spec.containers],
  });
});
