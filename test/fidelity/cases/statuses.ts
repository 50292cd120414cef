import type { Case, Request, Step } from '../case.ts';
import { fixtures } from '../fixtures.ts';

type Status = Readonly<Record<string, unknown>>;

/** Of a kind, what is told of one object, one after the other: what is taken stands for the next. */
interface Told {
  resource: string;
  /** Of what it is made; default: the fixture's. */
  spec?: object;
  statuses: readonly Status[];
}

const counted = (...names: string[]): Status[] => names.map((name) => ({ [name]: -1 }));

const replicas = [
  ...counted('replicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'),
  ...counted('updatedReplicas', 'unavailableReplicas', 'currentReplicas', 'fullyLabeledReplicas'),
  { replicas: 1, readyReplicas: 2 },
  { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
  { replicas: 1, updatedReplicas: 2, currentReplicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2 },
  { collisionCount: -1 },
  { replicas: 2, readyReplicas: 2, availableReplicas: 2, collisionCount: 3 },
  { replicas: 2, readyReplicas: 2, collisionCount: 2 },
];

const condition = (type: string, status = 'True') => ({ type, status });
const at = (minute: number) => `2024-01-02T03:${String(minute).padStart(2, '0')}:05Z`;

const jobs: readonly Status[] = [
  ...counted('active', 'succeeded', 'failed', 'ready', 'terminating'),
  { active: 1, ready: 2 },
  { uncountedTerminatedPods: { succeeded: ['', 'a', 'a'], failed: ['a', ''] } },
  { completedIndexes: '1' },
  { completedIndexes: '0-x' },
  { failedIndexes: '1' },
  { completionTime: at(1) },
  { conditions: [condition('Complete')] },
  { conditions: [condition('Complete'), condition('Failed')] },
  { conditions: [condition('Failed')] },
  {
    conditions: [condition('Complete'), condition('SuccessCriteriaMet')],
    completionTime: at(1),
    startTime: at(2),
  },
  { conditions: [condition('FailureTarget'), condition('SuccessCriteriaMet')] },
  { startTime: at(1), active: 2, ready: 1, succeeded: 2, failed: 2 },
  { startTime: at(2), active: 2, succeeded: 2, failed: 2 },
  { startTime: at(1), succeeded: 1, failed: 1 },
  {
    conditions: [condition('Failed'), condition('FailureTarget')],
    startTime: at(1),
    succeeded: 2,
    failed: 2,
    active: 1,
  },
  {
    conditions: [condition('Complete'), condition('SuccessCriteriaMet')],
    startTime: at(1),
    completionTime: at(3),
    succeeded: 2,
    failed: 2,
    terminating: 1,
    uncountedTerminatedPods: { succeeded: ['a'] },
  },
  {
    conditions: [condition('Complete'), condition('SuccessCriteriaMet')],
    startTime: at(1),
    completionTime: at(3),
    succeeded: 2,
    failed: 2,
  },
  { conditions: [condition('Complete')], startTime: at(1), completionTime: at(3), succeeded: 2, failed: 2 },
  { conditions: [], startTime: at(1), completionTime: at(4), succeeded: 2, failed: 2 },
];

const indexed: readonly Status[] = [
  ...['0-2', '2,1', '1-1', '3-1', '0-9', '12', 'a', '1-2-3', '1,', ' 1', '-1', '1,3-5'].flatMap((list) => [
    { completedIndexes: list },
    { failedIndexes: list },
  ]),
  { completedIndexes: '0,3-5', failedIndexes: '1,4-6' },
  { completedIndexes: '0,3-5', failedIndexes: '1,6' },
  { completedIndexes: 'x,1', failedIndexes: '1' },
  { conditions: [condition('Complete')], completionTime: at(1), startTime: at(1) },
];

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

const ended = (name: string, exitCode: number) => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode } },
});
const runs = (name: string) => ({ ...ended(name, 0), state: { running: {} } });

const pods: readonly Status[] = [
  { conditions: [condition('Ready'), condition('example.com/a'), condition('bad type'), condition('')] },
  { conditions: [{ ...condition('Ready'), observedGeneration: -1 }] },
  { observedGeneration: -1 },
  { observedGeneration: 3 },
  { observedGeneration: 0 },
  { qosClass: 'Guaranteed' },
  { nominatedNodeName: 'Bad_Node' },
  { nominatedNodeName: 'node' },
  { podIP: 'x' },
  { podIP: '010.0.0.1' },
  { podIP: '10.0.0.1' },
  { podIPs: [{ ip: '10.0.0.2' }] },
  { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] },
  { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
  { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
  { podIPs: [{ ip: '10.0.0.1' }, { ip: 'x' }] },
  { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }, { ip: 'fd00::2' }] },
  { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] },
  { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.3' }] },
  { hostIP: 'x', hostIPs: [{ ip: 'x' }] },
  { hostIP: 'x' },
  { resourceClaimStatuses: [{ name: 'none' }, { name: 'none', resourceClaimName: 'Bad_Name' }] },
  {
    containerStatuses: [{ ...runs('c'), user: { linux: { uid: -1, gid: -1, supplementalGroups: [1, -1] } } }],
  },
  { containerStatuses: [ended('c', 1)] },
  { containerStatuses: [runs('c')] },
  { containerStatuses: [ended('c', 0)], initContainerStatuses: [ended('i', 0)] },
  { containerStatuses: [runs('c')], initContainerStatuses: [runs('i')] },
  { containerStatuses: [ended('x', 0), ended('c', 0)], ephemeralContainerStatuses: [ended('e', 0)] },
  { containerStatuses: [runs('x')], ephemeralContainerStatuses: [runs('e')] },
];

const container = { name: 'c', image: 'i' };
const podsOf = (more: object): Told => ({
  resource: 'pods',
  spec: { containers: [container], ...more },
  statuses: pods,
});

const balancers: readonly Status[] = [
  [{ ip: '10.0.0.1' }],
  [{ ip: 'x' }],
  [{ ip: '010.0.0.1' }],
  [{ ip: '10.0.0.1', ipMode: 'Odd' }],
  [{ ip: '10.0.0.1', ipMode: 'Proxy' }],
  [{ ipMode: 'VIP' }],
  [{ hostname: 'Bad_Name' }],
  [{ hostname: '10.0.0.1' }],
  [{ hostname: 'a.example.com', ip: '::1' }, { ip: '::ffff:10.0.0.1' }],
].map((ingress) => ({ loadBalancer: { ingress } }));

const port = { port: 80 };

const claims: readonly Status[] = [
  { capacity: { storage: '-1' } },
  { capacity: { storage: '1.5', cpu: '1' } },
  { allocatedResourceStatuses: { storage: 'Odd' } },
  { allocatedResourceStatuses: { cpu: 'NodeResizePending' } },
  {
    allocatedResourceStatuses: {
      storage: 'NodeResizePending',
      'example.com/a': 'ControllerResizeInProgress',
    },
  },
  { allocatedResources: { cpu: '1' } },
  { allocatedResources: { storage: '-1' } },
  { allocatedResources: { 'bad name': '1' } },
  { allocatedResources: { storage: '1Gi' } },
];

const stamped = (more: object) => ({
  ...condition('A'),
  reason: 'R',
  message: '',
  lastTransitionTime: at(1),
  ...more,
});

const budgets: readonly Status[] = [
  ...counted('disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods', 'observedGeneration'),
  { conditions: [stamped({ type: 'bad type' })] },
  { conditions: [stamped({ status: 'Maybe' })] },
  { conditions: [stamped({ reason: '' })] },
  { conditions: [stamped({ reason: '1x' })] },
  { conditions: [stamped({ reason: 'R'.repeat(1025) })] },
  { conditions: [stamped({ message: 'm'.repeat(32_769) })] },
  { conditions: [stamped({ observedGeneration: -1 })] },
  { conditions: [stamped({}), stamped({})] },
  { conditions: [stamped({ lastTransitionTime: null })] },
  { conditions: [stamped({})], disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
];

const flows: readonly Status[] = [
  { conditions: [{ status: 'True' }] },
  { conditions: [condition('A'), condition('A')] },
  { conditions: [condition('A')] },
];

const devices = (name: string, resources: readonly object[]) => [
  { ...runs('c'), allocatedResourcesStatus: [{ name, resources }] },
];
const healthy = { resourceID: 'a', health: 'Healthy' };
const mapping = { containerName: 'c', resourceName: 'example.com/a', requestName: 'r' };

/** Of a Pod whose container asks for devices. */
const ofDevices: readonly Status[] = [
  { containerStatuses: devices('example.com/a', [healthy]) },
  { containerStatuses: devices('example.com/b', [healthy]) },
  { containerStatuses: devices('claim:k', [healthy]) },
  { containerStatuses: devices('claim:k/r', [{ resourceID: 'b' }]) },
  { containerStatuses: devices('example.com/a', [healthy, { ...healthy, health: 'Ill', message: '' }]) },
  { containerStatuses: devices('example.com/a', [{ ...healthy, message: 'x'.repeat(1025) }]) },
  { containerStatuses: [{ ...devices('example.com/z', [healthy])[0], name: 'other' }] },
  { ephemeralContainerStatuses: devices('example.com/a', []) },
  { extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: '' } },
  { extendedResourceClaimStatus: { requestMappings: [mapping, mapping], resourceClaimName: 'Bad_' } },
  {
    extendedResourceClaimStatus: {
      requestMappings: [
        { ...mapping, containerName: 'x' },
        { ...mapping, resourceName: 'y', requestName: 'Bad_' },
      ],
      resourceClaimName: 'claim',
    },
  },
];

const nodes: readonly Status[] = [
  { capacity: { cpu: '-1', 'example.com/x': '1.5' }, allocatable: { pods: '0.5' } },
  {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ],
  },
  { declaredFeatures: ['b'] },
  { nodeInfo: { swap: { capacity: -1 } } },
  { conditions: [{ type: '', status: 'Maybe' }], capacity: { cpu: '1' } },
];

const policies: readonly Status[] = [
  { typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] } },
  { typeChecking: { expressionWarnings: [{ fieldRef: ' ', warning: 'w' }] } },
  { typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: 'w' }] } },
  { conditions: [{ type: 'bad type', status: 'x', reason: '', lastTransitionTime: at(1), message: '' }] },
  { conditions: [{ type: 'A', status: 'True', reason: 'B', lastTransitionTime: at(1), message: '' }] },
];

const told: Readonly<Record<string, Told>> = {
  nodes: { resource: 'nodes', statuses: nodes },
  policies: { resource: 'validatingadmissionpolicies', statuses: policies },
  'pods/devices': {
    resource: 'pods',
    spec: {
      resourceClaims: [{ name: 'k', resourceClaimName: 'k' }],
      containers: [
        {
          ...container,
          resources: {
            claims: [{ name: 'k', request: 'r' }],
            requests: { 'example.com/a': '1' },
            limits: { 'example.com/a': '1' },
          },
        },
      ],
    },
    statuses: ofDevices,
  },
  deployments: { resource: 'deployments', statuses: replicas },
  replicasets: { resource: 'replicasets', statuses: replicas },
  statefulsets: { resource: 'statefulsets', statuses: replicas },
  replicationcontrollers: { resource: 'replicationcontrollers', statuses: replicas },
  daemonsets: {
    resource: 'daemonsets',
    statuses: [
      ...counted('currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'),
      ...counted('observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'),
      { collisionCount: -1 },
      { collisionCount: 2, numberReady: 3, desiredNumberScheduled: 1 },
      { collisionCount: 1 },
    ],
  },
  autoscalers: {
    resource: 'horizontalpodautoscalers',
    statuses: [...counted('currentReplicas', 'desiredReplicas'), { currentReplicas: 1, desiredReplicas: 2 }],
  },
  budgets: { resource: 'poddisruptionbudgets', statuses: budgets },
  flows: { resource: 'flowschemas', statuses: flows },
  levels: { resource: 'prioritylevelconfigurations', statuses: flows },
  jobs: { resource: 'jobs', spec: { template, completions: 3 }, statuses: jobs },
  'jobs/indexed': {
    resource: 'jobs',
    spec: { template, completions: 9, parallelism: 9, completionMode: 'Indexed', backoffLimitPerIndex: 1 },
    statuses: indexed,
  },
  'jobs/policy': {
    resource: 'jobs',
    spec: {
      template,
      completions: 2,
      completionMode: 'Indexed',
      successPolicy: { rules: [{ succeededCount: 1 }] },
    },
    statuses: jobs,
  },
  'jobs/suspended': { resource: 'jobs', spec: { template, suspend: true, completions: 0 }, statuses: jobs },
  pods: podsOf({}),
  'pods/never': podsOf({ restartPolicy: 'Never', initContainers: [{ ...container, name: 'i' }] }),
  'pods/failure': podsOf({
    restartPolicy: 'OnFailure',
    initContainers: [{ ...container, name: 'i', restartPolicy: 'Always' }],
  }),
  'pods/bound': podsOf({ nodeName: 'node', restartPolicy: 'Never' }),
  'pods/rules': podsOf({
    restartPolicy: 'Never',
    containers: [
      {
        ...container,
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
      },
    ],
  }),
  services: { resource: 'services', spec: { ports: [port], type: 'LoadBalancer' }, statuses: balancers },
  'services/internal': { resource: 'services', spec: { ports: [port] }, statuses: balancers.slice(0, 2) },
  ingresses: { resource: 'ingresses', statuses: balancers },
  claims: { resource: 'persistentvolumeclaims', statuses: claims },
};

/** What Kubernetes takes as a status, and what not, of each kind that it looks at. */
export function statusesCases(): Case[] {
  return Object.entries(told).map(([id, { resource, spec, statuses }]) => ({
    id: `validation/status/${id}`,
    area: 'validation',
    ownNamespace: true,
    steps: (names): Step[] => {
      const fixture = fixtures.find(
        ({ info }) => info.resource === resource && info.version === newest(resource),
      );
      if (!fixture) throw new Error(`no fixture of ${resource}`);
      const made = fixture.object(names);
      const body = spec ? { ...made, spec } : made;
      const path = fixture.path(names);
      const put = (status: Status): Request => ({
        method: 'PUT',
        path: `${path}/${made.metadata.name}/status`,
        body: { ...body, status },
      });
      return [{ method: 'POST', path, body }, ...statuses.map(put)];
    },
  }));
}

function newest(resource: string): string {
  return resource === 'horizontalpodautoscalers' ? 'v2' : 'v1';
}
