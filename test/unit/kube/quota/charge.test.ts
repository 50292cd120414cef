import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { accountOf, charge } from '../../../../kube/quota/charge.ts';
import { countUsed } from '../../../../kube/quota/count.ts';
import { evaluatorFor, evaluatorsFor } from '../../../../kube/quota/index.ts';
import { writeList } from '../../../../kube/quota/list.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

const some = (object: object): KubeObject => ({ apiVersion: 'v1', kind: 'Some', metadata: {}, ...object });

function quota(hard: object, used: object = {}, spec: object = {}, name = 'q'): KubeObject {
  return { metadata: { name }, spec: { hard, ...spec }, status: { hard, used } } as unknown as KubeObject;
}

function pod(requests: object = {}, spec: object = {}): KubeObject {
  return some({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', resources: { requests } }], ...spec },
  });
}

interface Write {
  resource?: string;
  operation?: string;
  subresource?: string;
  object?: KubeObject;
  old?: KubeObject;
}

/** What is used then by each quota, or why not. */
function cost(quotas: readonly KubeObject[], write: Write = {}): unknown {
  const accounts = quotas.map(accountOf);
  const { resource = 'pods', operation = 'CREATE', subresource = '', object = pod(), old } = write;
  const evaluator = evaluatorFor('', resource)!;
  const answer = charge(accounts, { operation, subresource, object, old }, evaluator, now);
  if ('refused' in answer) return answer.refused;
  return [...answer.used].map(([account, used]) => [account.quota.metadata.name, writeList(used)]);
}

const service = (type: string, ports = 1): KubeObject =>
  some({ spec: { type, ports: Array.from({ length: ports }, () => ({})) } });
const update = { operation: 'UPDATE' };

test.each<[string, KubeObject[], Write, unknown]>([
  ['no quota', [], {}, []],
  [
    'a quota whose status is not there yet',
    [some({ metadata: { name: 'q' }, spec: { hard: { pods: '0' } } })],
    {},
    [],
  ],
  ['one more', [quota({ pods: '2' }, { pods: '1' })], {}, [['q', { pods: '2' }]]],
  [
    'one too many',
    [quota({ pods: '2' }, { pods: '2' })],
    {},
    'exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  ],
  [
    'what is exceeded of several',
    [
      quota(
        { pods: '9', 'requests.cpu': '1', memory: '1Gi' },
        { pods: '1', 'requests.cpu': '600m', memory: '1Gi' },
      ),
    ],
    { object: pod({ cpu: '600m', memory: '1Mi' }) },
    'exceeded quota: q, requested: memory=1Mi,requests.cpu=600m, used: memory=1Gi,requests.cpu=600m, limited: memory=1Gi,requests.cpu=1',
  ],
  [
    'in the first format that is not zero',
    [quota({ memory: '2Gi' }, { memory: '0' })],
    { object: pod({ memory: '512Mi' }) },
    [['q', { memory: '512Mi' }]],
  ],
  [
    'containers that do not say',
    [quota({ cpu: '1', 'limits.memory': '1', pods: '1' }, { cpu: '0', 'limits.memory': '0', pods: '0' })],
    {
      object: pod(
        {},
        { initContainers: [{ name: 'b' }, { name: 'a', resources: { requests: { cpu: '1' } } }] },
      ),
    },
    'failed quota: q: must specify cpu for: b,c; limits.memory for: a,b,c',
  ],
  [
    'ephemeral storage need not be said',
    [quota({ 'requests.ephemeral-storage': '1' }, { 'requests.ephemeral-storage': '0' })],
    {},
    [],
  ],
  [
    'nor anything where the pod says it as a whole',
    [quota({ cpu: '4' }, { cpu: '1' })],
    { object: pod({}, { resources: { requests: { cpu: '2' } } }) },
    [['q', { cpu: '3' }]],
  ],
  [
    'usage that is not counted yet',
    [quota({ pods: '1', cpu: '1', services: '1' }, { pods: '0' })],
    { object: pod({ cpu: '1' }) },
    'status unknown for quota: q, resources: cpu,pods',
  ],
  [
    'each of those that it concerns',
    [
      quota({ pods: '2' }, { pods: '0' }, {}, 'all'),
      quota({ pods: '2' }, { pods: '0' }, { scopes: ['BestEffort'] }, 'best'),
      quota({ pods: '0' }, { pods: '0' }, { scopes: ['NotBestEffort'] }, 'other'),
      quota({ configmaps: '0' }, { configmaps: '0' }, {}, 'maps'),
    ],
    {},
    [
      ['all', { pods: '1' }],
      ['best', { pods: '1' }],
    ],
  ],
  [
    'an update of a pod that changes nothing of it',
    [quota({ pods: '0' }, { pods: '5' })],
    { ...update, old: pod() },
    [],
  ],
  [
    'a pod that comes into a scope',
    [quota({ pods: '1' }, { pods: '0' }, { scopes: ['Terminating'] })],
    { ...update, old: pod(), object: pod({}, { activeDeadlineSeconds: 1 }) },
    [['q', { pods: '1' }]],
  ],
  [
    'a resize',
    [quota({ cpu: '3' }, { cpu: '2' })],
    { ...update, subresource: 'resize', old: pod({ cpu: '1' }), object: pod({ cpu: '3' }) },
    'exceeded quota: q, requested: cpu=2, used: cpu=2, limited: cpu=3',
  ],
  [
    'a service that becomes a load balancer',
    [
      quota(
        { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
        { services: '1', 'services.nodeports': '0', 'services.loadbalancers': '0' },
      ),
    ],
    { ...update, resource: 'services', old: service('ClusterIP', 2), object: service('LoadBalancer', 2) },
    [['q', { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '1' }]],
  ],
  [
    'a service that uses less gives nothing back here',
    [quota({ 'services.nodeports': '1' }, { 'services.nodeports': '3' })],
    { ...update, resource: 'services', old: service('NodePort', 3), object: service('NodePort', 1) },
    [],
  ],
  [
    'a node port too many',
    [quota({ 'services.nodeports': '1' }, { 'services.nodeports': '1' })],
    { ...update, resource: 'services', old: service('NodePort', 1), object: service('NodePort', 2) },
    'exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
  ],
  [
    'an object is counted, its update is not',
    [quota({ configmaps: '1' }, { configmaps: '1' })],
    { ...update, resource: 'configmaps', object: some({}), old: some({}) },
    [],
  ],
  [
    'a status of a claim is charged and never refused',
    [quota({ 'requests.storage': '1Gi' }, { 'requests.storage': '1Gi' })],
    {
      ...update,
      resource: 'persistentvolumeclaims',
      subresource: 'status',
      old: some({ spec: { resources: { requests: { storage: '1Gi' } } } }),
      object: some({
        spec: { resources: { requests: { storage: '1Gi' } } },
        status: { allocatedResources: { storage: '3Gi' } },
      }),
    },
    [['q', { 'requests.storage': '3Gi' }]],
  ],
  [
    'less than nothing',
    [quota({ cpu: '1' }, { cpu: '0' })],
    { object: pod({ cpu: '-1' }) },
    'quota usage is negative for resource(s): cpu,requests.cpu',
  ],
])('%s', (_what, quotas, write, expected) => {
  expect(cost(quotas, write)).toEqual(expected);
});

test('what is used is counted anew: in scope, under the names that are bounded, zero where there is nothing', () => {
  const bounded = quota(
    { pods: '5', 'requests.cpu': '1', 'count/things.example.com': '1', nonsense: '1' },
    {},
    { scopes: ['NotTerminating'] },
  );
  const evaluators = evaluatorsFor(['pods', 'count/things.example.com']);
  const objects = [pod({ cpu: '100m' }), pod({ cpu: '1' }), pod({ cpu: '7' }, { activeDeadlineSeconds: 1 })];
  const counted = [
    { evaluator: evaluators[0]!, objects },
    { evaluator: evaluators[1]!, objects: [some({})] },
  ];
  const used = countUsed(bounded, counted, (evaluator, object) => evaluator.usage(object, now));
  expect(writeList(used)).toEqual({ 'count/things.example.com': '0', pods: '2', 'requests.cpu': '1100m' });
});
