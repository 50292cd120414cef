import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { Client } from '../../../client/client.ts';
import { kindNamed } from '../../../cluster/kinds.ts';
import { rootCluster, splitterUser } from '../../../cluster/names.ts';
import type { ObjectRef, Share } from '../../../cluster/types.ts';
import { formatApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';
import { asKept } from '../../../splitter/kept.ts';
import { writeRoot } from '../../../splitter/write.ts';
import { type Api, startApi } from '../apiserver/api.ts';

let api: Api;
beforeAll(() => {
  api = startApi();
});
afterAll(() => api.close());

const time = '2026-01-02T03:04:05Z';
const condition = (type: string, status = 'True', more: object = {}) => ({
  type,
  status,
  lastTransitionTime: time,
  reason: 'AsItIs',
  message: '',
  ...more,
});
const labels = { app: 'x' };
const selector = { matchLabels: labels };
const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels }, spec: pod };
const job = { template: { spec: { ...pod, restartPolicy: 'Never' } } };
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };
const ports = [{ port: 80 }];
const backend = { service: { name: 'x', port: { number: 80 } } };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const counters = { replicas: 1, readyReplicas: 1, availableReplicas: 1 };

/** By kind: a spec that it may have, and what clusters say of it. */
const rows: [what: string, kind: string, spec: object, status: Record<string, unknown>][] = [
  [
    'with all times',
    'Deployment',
    { selector, template },
    {
      ...counters,
      updatedReplicas: 1,
      terminatingReplicas: 0,
      observedGeneration: 1,
      conditions: [
        condition('Available', 'True', { lastUpdateTime: time }),
        condition('Progressing', 'True', { lastUpdateTime: time }),
      ],
    },
  ],
  [
    'without some',
    'Deployment',
    { selector, template },
    { unavailableReplicas: 1, replicas: 1, conditions: [condition('Available', 'False')] },
  ],
  [
    'with none of them',
    'Deployment',
    { replicas: 0, selector, template },
    { conditions: [{ type: 'Available', status: 'True' }] },
  ],
  ['', 'ReplicaSet', { selector, template }, { ...counters, fullyLabeledReplicas: 1 }],
  ['of none', 'ReplicaSet', { replicas: 0, selector, template }, { replicas: 0, observedGeneration: 1 }],
  [
    'which fails',
    'ReplicaSet',
    { selector, template },
    { replicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True' }] },
  ],
  ['', 'ReplicationController', { selector: labels, template }, { replicas: 1 }],
  [
    '',
    'StatefulSet',
    { serviceName: 'x', selector, template },
    {
      ...counters,
      currentReplicas: 1,
      updatedReplicas: 1,
      currentRevision: 'a',
      updateRevision: 'a',
      collisionCount: 0,
    },
  ],
  [
    'of none',
    'StatefulSet',
    { serviceName: 'x', replicas: 0, selector, template },
    { replicas: 0, availableReplicas: 0 },
  ],
  [
    '',
    'DaemonSet',
    { selector, template },
    {
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 1,
      numberAvailable: 1,
    },
  ],
  ['of none', 'DaemonSet', { selector, template }, { observedGeneration: 1 }],
  [
    'that begins',
    'Job',
    job,
    { active: 1, ready: 0, terminating: 0, startTime: time, uncountedTerminatedPods: {} },
  ],
  [
    'that waits',
    'Job',
    { ...job, suspend: true },
    { conditions: [condition('Suspended', 'True', { lastProbeTime: time })] },
  ],
  ['', 'CronJob', { schedule: '* * * * *', jobTemplate: { spec: job } }, { lastScheduleTime: time }],
  [
    'that runs',
    'CronJob',
    { schedule: '* * * * *', jobTemplate: { spec: job } },
    { active: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'x-1', namespace: 'default', uid: 'u' }] },
  ],
  ['', 'Service', { ports }, { loadBalancer: {} }],
  [
    'that is led to',
    'Service',
    { type: 'LoadBalancer', ports },
    {
      loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP', ports: [{ port: 80, protocol: 'TCP' }] }] },
      conditions: [condition('Ready', 'True', { observedGeneration: 1 })],
    },
  ],
  ['', 'Ingress', { defaultBackend: backend }, { loadBalancer: {} }],
  [
    'that is led to',
    'Ingress',
    { defaultBackend: backend },
    { loadBalancer: { ingress: [{ hostname: 'a.example.com' }] } },
  ],
  [
    'that begins',
    'HorizontalPodAutoscaler',
    { scaleTargetRef, maxReplicas: 3 },
    { currentReplicas: 1, desiredReplicas: 0, currentMetrics: null, conditions: [condition('AbleToScale')] },
  ],
  [
    'that has looked',
    'HorizontalPodAutoscaler',
    { scaleTargetRef, maxReplicas: 3 },
    {
      currentReplicas: 1,
      desiredReplicas: 1,
      lastScaleTime: time,
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 0, averageValue: '0' } },
        },
        { type: '' },
      ],
      conditions: [condition('ScalingActive')],
    },
  ],
  [
    '',
    'PodDisruptionBudget',
    { minAvailable: 1, selector },
    {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      disruptedPods: { p: time },
      conditions: [condition('DisruptionAllowed', 'False', { observedGeneration: 1 })],
    },
  ],
  ['of none', 'PodDisruptionBudget', { minAvailable: 1, selector }, {}],
  ['that waits', 'PersistentVolumeClaim', claim, { phase: 'Pending' }],
  [
    'that is bound',
    'PersistentVolumeClaim',
    claim,
    { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' } },
  ],
  [
    'that grows',
    'PersistentVolumeClaim',
    claim,
    {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      allocatedResources: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [condition('FileSystemResizePending', 'True', { lastProbeTime: null })],
    },
  ],
  ['that waits', 'Pod', pod, { phase: 'Pending', qosClass: 'BestEffort' }],
  [
    'that runs',
    'Pod',
    pod,
    {
      phase: 'Running',
      observedGeneration: 1,
      conditions: [{ ...condition('Ready'), lastProbeTime: null, observedGeneration: 1 }],
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.64.0.1',
      podIPs: [{ ip: '10.64.0.1' }],
      startTime: time,
      qosClass: 'BestEffort',
      containerStatuses: [
        {
          name: 'c',
          image: 'i',
          imageID: '',
          ready: true,
          started: true,
          restartCount: 0,
          lastState: {},
          state: { running: { startedAt: null } },
          unknown: 'of a later version',
        },
      ],
    },
  ],
];

test.each(rows)(
  'what is kept of the status of a %s %s is not written again',
  async (_, kind, spec, status) => {
    const { group, version, resource } = kindNamed(kind) ?? expect.fail(kind);
    const ref = { group, version, resource, kind, name: 'x' };
    const requests: string[] = [];
    const transport = api.server.transport(ownUser(splitterUser));
    const client = new Client((request) => {
      requests.push(`${request.method} ${Buffer.from(request.body ?? []).toString()}`);
      return transport(request);
    });
    const object = { apiVersion: formatApiVersion(ref), kind, metadata: { generateName: 'x-' }, spec };
    const target = { namespace: 'default', cluster: rootCluster };
    const admin = new Client(api.server.transport({ name: 'admin', groups: ['system:masters'] }));
    const made = await admin.create(ref, object as KubeObject, target);
    const { name = '', uid = '', generation = 1 } = made.metadata;
    const share: Share = { phase: 'Active' };
    const slice = { present: true, observedGeneration: generation, status };
    const at: ObjectRef = { ...ref, name, uid };
    const writer = { client, signal: new AbortController().signal };
    const write = async () => {
      const root = await admin.get(ref, { ...target, name });
      const folded = foldStatus(root, { east: share }, { east: slice }) ?? expect.fail('nothing is said');
      const kept = asKept(root, at, folded);
      await writeRoot(rootCluster, at, root, kept, writer);
      return { before: root.status, kept, after: (await admin.get(ref, { ...target, name })).status };
    };
    const first = await write();
    expect(first.after).toEqual(first.kept);
    requests.length = 0;
    const again = await write();
    expect(requests).toEqual([]);
    expect(again.kept).toBe(again.before);
  },
);
