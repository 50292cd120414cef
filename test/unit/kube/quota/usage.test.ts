import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { evaluatorFor, evaluatorsFor } from '../../../../kube/quota/index.ts';
import { writeList } from '../../../../kube/quota/list.ts';
import type { Scope } from '../../../../kube/quota/scope.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function usage(group: string, resource: string, object: object): Record<string, string> {
  const evaluator = evaluatorFor(group, resource)!;
  return writeList(evaluator.usage({ metadata: {}, ...object } as KubeObject, now));
}

const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
  ...more,
});
const sidecar = (requests: object) => container(requests, {}, { restartPolicy: 'Always' });
const cpu = (amount: string) => ({ cpu: amount, 'requests.cpu': amount });
const memory = (amount: string) => ({ memory: amount, 'requests.memory': amount });
const running = { 'count/pods': '1', pods: '1' };

test.each<[string, object, Record<string, string>]>([
  ['nothing stated', { containers: [container({})] }, running],
  [
    'stored as earlier versions took it',
    { containers: [container({ cpu: ' 1 ', memory: 9_007_199_254_740_993n })] },
    { ...running, ...cpu('1'), ...memory('9007199254740993') },
  ],
  [
    'requests and limits of several containers',
    {
      containers: [
        container({ cpu: '1', memory: '50M' }, { cpu: '2', memory: '100M' }),
        container({ cpu: '500m', memory: '50M', 'ephemeral-storage': '1Gi' }, { cpu: '1' }),
      ],
    },
    {
      ...running,
      ...cpu('1500m'),
      ...memory('100M'),
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'limits.cpu': '3',
      'limits.memory': '100M',
    },
  ],
  [
    'an init container that needs more than the rest',
    {
      initContainers: [container({ cpu: '3' }), container({ cpu: '1' })],
      containers: [container({ cpu: '2' })],
    },
    { ...running, ...cpu('3') },
  ],
  [
    'sidecars run beside what comes after them',
    {
      initContainers: [
        container({ cpu: '5' }),
        sidecar({ cpu: '1' }),
        container({ cpu: '4' }),
        sidecar({ cpu: '2' }),
      ],
      containers: [container({ cpu: '1' })],
    },
    { ...running, ...cpu('5') },
  ],
  [
    'sidecars and containers together',
    { initContainers: [sidecar({ cpu: '1' })], containers: [container({ cpu: '1' })] },
    { ...running, ...cpu('2') },
  ],
  [
    'overhead, on a limit only where there is one',
    {
      overhead: { cpu: '1', memory: '1Gi' },
      containers: [container({ cpu: '1' }, { cpu: '2' })],
    },
    { ...running, ...cpu('2'), ...memory('1Gi'), 'limits.cpu': '3' },
  ],
  [
    'stated for the pod as a whole',
    {
      resources: { requests: { cpu: '5' }, limits: { memory: '1Gi' } },
      containers: [container({ cpu: '1', memory: '1Mi' }, { memory: '2Mi' })],
    },
    { ...running, ...cpu('5'), ...memory('1Mi'), 'limits.memory': '1Gi' },
  ],
  [
    'huge pages and extended resources',
    {
      containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '3' }, { 'example.com/gpu': '3' })],
    },
    { ...running, 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi', 'requests.example.com/gpu': '3' },
  ],
])('a pod with %s', (_what, spec, expected) => {
  expect(usage('', 'pods', { spec })).toEqual(expected);
});

test.each<[string, object, Record<string, string>]>([
  ['has succeeded', { status: { phase: 'Succeeded' } }, { 'count/pods': '1' }],
  ['has failed', { status: { phase: 'Failed' } }, { 'count/pods': '1' }],
  [
    'is stuck after its grace',
    { metadata: { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } },
    { 'count/pods': '1' },
  ],
  [
    'is ending',
    { metadata: { deletionTimestamp: '2025-12-31T23:59:50Z', deletionGracePeriodSeconds: 30 } },
    { ...running, ...cpu('1') },
  ],
  [
    'was given more than it asks for now',
    {
      status: {
        containerStatuses: [
          { name: 'c', resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '3' } },
        ],
      },
    },
    { ...running, ...cpu('3') },
  ],
  [
    'asks for more than there is',
    {
      status: {
        conditions: [{ type: 'PodResizePending', reason: 'Infeasible' }],
        containerStatuses: [{ name: 'c', resources: { requests: { cpu: '500m' } } }],
      },
    },
    { ...running, ...cpu('500m') },
  ],
])('a pod that %s', (_what, pod, expected) => {
  expect(usage('', 'pods', { spec: { containers: [container({ cpu: '1' })] }, ...pod })).toEqual(expected);
});

const service = {
  'count/services': '1',
  services: '1',
  'services.loadbalancers': '0',
  'services.nodeports': '0',
};

test.each<[string, object, Record<string, string>]>([
  ['for the cluster', { type: 'ClusterIP', ports: [{}] }, service],
  ['with node ports', { type: 'NodePort', ports: [{}, {}] }, { ...service, 'services.nodeports': '2' }],
  [
    'a load balancer',
    { type: 'LoadBalancer', ports: [{}] },
    { ...service, 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
  [
    'a load balancer that asks for no node ports',
    { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30000 }, {}] },
    { ...service, 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
])('a service %s', (_what, spec, expected) => {
  expect(usage('', 'services', { spec })).toEqual(expected);
});

const claim = { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' };

test.each<[string, object, Record<string, string>]>([
  [
    'plain',
    { spec: { resources: { requests: { storage: '10Gi' } } } },
    { ...claim, 'requests.storage': '10Gi' },
  ],
  [
    'of a class',
    { spec: { storageClassName: 'gold', resources: { requests: { storage: '10Gi' } } } },
    {
      ...claim,
      'requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    },
  ],
  [
    'of a class by annotation',
    {
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      spec: { storageClassName: 'gold' },
    },
    { ...claim, 'old.storageclass.storage.k8s.io/persistentvolumeclaims': '1' },
  ],
  [
    'in whole bytes',
    { spec: { resources: { requests: { storage: '10500m' } } } },
    { ...claim, 'requests.storage': '11' },
  ],
  [
    'that has been given more',
    {
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { allocatedResources: { storage: '2Gi' } },
    },
    { ...claim, 'requests.storage': '2Gi' },
  ],
])('a claim %s', (_what, object, expected) => {
  expect(usage('', 'persistentvolumeclaims', object)).toEqual(expected);
});

test('a claim for devices counts the worst case of each class', () => {
  const exactly = (deviceClassName: string, count: number) => ({
    deviceClassName,
    allocationMode: 'ExactCount',
    count,
  });
  const requests = [
    { exactly: exactly('gpu', 2) },
    { firstAvailable: [exactly('gpu', 3), exactly('tpu', 1), exactly('gpu', 1)] },
    { exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
  ];
  expect(usage('resource.k8s.io', 'resourceclaims', { spec: { devices: { requests } } })).toEqual({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '5',
    'tpu.deviceclass.resource.k8s.io/devices': '1',
    'nic.deviceclass.resource.k8s.io/devices': '32',
  });
});

test('any other resource is counted', () => {
  expect(usage('', 'configmaps', {})).toEqual({ 'count/configmaps': '1', configmaps: '1' });
  expect(usage('example.com', 'things', {})).toEqual({ 'count/things.example.com': '1' });
  expect(evaluatorFor('', 'events')).toBeUndefined();
});

test.each<[string[], string[]]>([
  [['pods', 'requests.cpu', 'requests.example.com/gpu'], ['/pods']],
  [['gold.storageclass.storage.k8s.io/requests.storage'], ['/persistentvolumeclaims']],
  [['services.nodeports', 'count/services'], ['/services']],
  [['secrets', 'count/secrets'], ['/secrets']],
  [
    ['count/things.example.com', 'count/deployments.apps'],
    ['example.com/things', 'apps/deployments'],
  ],
  [['count/events', 'nonsense', 'count/'], []],
])('%s are of %s', (names, expected) => {
  const found = evaluatorsFor(names).map(({ group, resource }) => `${group}/${resource}`);
  expect(found).toEqual(expected);
});

const exists = (name: string): Scope => ({ name, operator: 'Exists', values: [] });
const priority = (operator: string, ...values: string[]): Scope => ({
  name: 'PriorityClass',
  operator,
  values,
});
const vac = (operator: string, ...values: string[]): Scope => ({
  name: 'VolumeAttributesClass',
  operator,
  values,
});
const high = { priorityClassName: 'high' };
const beyond = (affinity: string, list: string, term: object) => ({
  affinity: { [affinity]: { [list]: [term] } },
});

test.each<[Scope, object, boolean]>([
  [exists('Terminating'), { activeDeadlineSeconds: 0 }, true],
  [exists('Terminating'), {}, false],
  [exists('NotTerminating'), {}, true],
  [exists('NotTerminating'), { activeDeadlineSeconds: 5 }, false],
  [exists('BestEffort'), { containers: [container({})] }, true],
  [exists('BestEffort'), { containers: [container({ cpu: '1' })] }, false],
  [exists('NotBestEffort'), { containers: [container({ cpu: '1' })] }, true],
  [exists('PriorityClass'), high, true],
  [exists('PriorityClass'), {}, false],
  [priority('DoesNotExist'), {}, true],
  [priority('DoesNotExist'), high, false],
  [priority('In', 'high', 'low'), high, true],
  [priority('In', 'low'), high, false],
  [priority('In', 'low'), {}, false],
  [priority('NotIn', 'low'), high, true],
  [priority('NotIn', 'high'), high, false],
  [priority('NotIn', 'high'), {}, true],
  [exists('CrossNamespacePodAffinity'), {}, false],
  [
    exists('CrossNamespacePodAffinity'),
    beyond('podAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', { namespaces: ['a'] }),
    true,
  ],
  [
    exists('CrossNamespacePodAffinity'),
    beyond('podAntiAffinity', 'preferredDuringSchedulingIgnoredDuringExecution', {
      podAffinityTerm: { namespaceSelector: {} },
    }),
    true,
  ],
  [
    exists('CrossNamespacePodAffinity'),
    beyond('podAntiAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', { topologyKey: 'x' }),
    false,
  ],
  [vac('Exists'), high, false],
])('scope %j of a pod %j: %s', (scope, spec, expected) => {
  expect(evaluatorFor('', 'pods')!.matches(scope, { metadata: {}, spec } as KubeObject)).toBe(expected);
});

test.each<[Scope, object, boolean]>([
  [vac('Exists'), { spec: { volumeAttributesClassName: 'gold' } }, true],
  [vac('Exists'), { spec: {} }, false],
  [vac('In', 'gold'), { status: { currentVolumeAttributesClassName: 'gold' } }, true],
  [vac('In', 'gold'), { status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } } }, true],
  [vac('NotIn', 'gold'), { spec: { volumeAttributesClassName: 'gold' } }, false],
  [vac('DoesNotExist'), { spec: {} }, true],
  [exists('BestEffort'), { spec: {} }, false],
])('scope %j of a claim %j: %s', (scope, object, expected) => {
  const given = { metadata: {}, ...object } as KubeObject;
  expect(evaluatorFor('', 'persistentvolumeclaims')!.matches(scope, given)).toBe(expected);
});
