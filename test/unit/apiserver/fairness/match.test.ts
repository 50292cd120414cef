import { expect, test } from 'vitest';
import { configurationOf } from '../../../../apiserver/fairness/configuration.ts';
import { type Asked, Classifier } from '../../../../apiserver/fairness/match.ts';
import { parseRequest } from '../../../../apiserver/request.ts';
import { bootstrapFlows } from '../../../../kube/flow/bootstrap.ts';
import type { UserInfo } from '../../../../kube/http.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const { flows } = configurationOf(
  bootstrapFlows('flowschemas'),
  bootstrapFlows('prioritylevelconfigurations'),
);
const known = ['system:authenticated'];
const people = {
  master: { name: 'admin', groups: ['system:masters', ...known] },
  ann: { name: 'ann', groups: known },
  nobody: { name: 'system:anonymous', groups: ['system:unauthenticated'] },
  stranger: { name: 'stranger', groups: [] },
  node: { name: 'system:node:a', groups: ['system:nodes', ...known] },
  scheduler: { name: 'system:kube-scheduler', groups: known },
  manager: { name: 'system:kube-controller-manager', groups: known },
  system: {
    name: 'system:serviceaccount:kube-system:x',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', ...known],
  },
  // Begins as kube-system does.
  other: {
    name: 'system:serviceaccount:kube-system-2:x',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system-2', ...known],
  },
};

const tenants = { 'authentication.kcp.io/cluster-name': ['3kx9'] };
const impersonated = { 'authentication.kcp.io/scopes': ['cluster:3kx9'] };

test.for<[string, UserInfo, string]>([
  ['an account of its kube-system', { ...people.system, extra: tenants }, 'service-accounts'],
  ['called like a component', { ...people.manager, extra: impersonated }, 'global-default'],
  ['called a node', { ...people.node, extra: impersonated }, 'global-default'],
  ['called an administrator', { ...people.master, extra: impersonated }, 'global-default'],
  [
    'an account of kube-system in root',
    { ...people.system, extra: { 'authentication.kcp.io/cluster-name': ['root'] } },
    'kube-system-service-accounts',
  ],
])('somebody of another logical cluster than root is one of the many: %s', ([, user, schema]) => {
  expect(new Classifier(flows).flowOf(user, asked('GET', `/clusters/root:a${pods}`)).name).toBe(schema);
});

function asked(method: string, url: string): Asked {
  return parseRequest(method, url, { logicalClusters: true });
}

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x';
const pods = '/api/v1/namespaces/default/pods';

test.for<[keyof typeof people, string, string, string]>([
  ['master', 'GET', pods, 'exempt'],
  ['master', 'GET', '/healthz', 'exempt'],
  ['ann', 'GET', '/healthz', 'probes'],
  ['ann', 'GET', '/healthz/etcd', 'probes'],
  ['ann', 'GET', '/healthzz', 'global-default'],
  ['ann', 'POST', '/healthz', 'global-default'],
  ['nobody', 'GET', '/readyz', 'probes'],
  ['nobody', 'GET', '/version', 'global-default'],
  ['stranger', 'GET', pods, 'catch-all'],
  ['ann', 'GET', pods, 'global-default'],
  ['ann', 'GET', `/clusters/root:a${pods}`, 'global-default'],
  ['node', 'GET', pods, 'system-nodes'],
  ['node', 'PATCH', '/api/v1/nodes/a/status', 'system-node-high'],
  ['node', 'GET', '/api/v1/nodes/a/proxy', 'system-nodes'],
  ['node', 'PUT', lease, 'system-node-high'],
  ['scheduler', 'PUT', lease, 'system-leader-election'],
  ['scheduler', 'DELETE', lease, 'kube-scheduler'],
  ['manager', 'GET', '/apis/coordination.k8s.io/v1/leases', 'kube-controller-manager'],
  ['manager', 'GET', pods, 'kube-controller-manager'],
  ['system', 'GET', lease, 'system-leader-election'],
  ['system', 'GET', '/api', 'kube-system-service-accounts'],
  ['other', 'GET', lease, 'service-accounts'],
])('%s %s %s: %s', ([who, method, url, schema]) => {
  expect(new Classifier(flows).flowOf(people[who], asked(method, url)).name).toBe(schema);
});

function flow(name: string, precedence: number, level: string, rule: object): KubeObject {
  const rules = [{ subjects: [{ kind: 'User', user: { name: '*' } }], resourceRules: [rule] }];
  const spec = { matchingPrecedence: precedence, priorityLevelConfiguration: { name: level }, rules };
  return { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name }, spec };
}

const every = ['*'];
const list = { verbs: ['list'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] };

test.for<[string, KubeObject[], string, string]>([
  ['by precedence', [flow('b', 20, 'x', list), flow('a', 30, 'x', list)], '/api/v1/namespaces/a/pods', 'b'],
  ['then by name', [flow('b', 20, 'x', list), flow('a', 20, 'x', list)], '/api/v1/namespaces/a/pods', 'a'],
  [
    'none that dangles',
    [flow('b', 20, 'y', list), flow('a', 30, 'x', list)],
    '/api/v1/namespaces/a/pods',
    'a',
  ],
  ['the namespace', [flow('b', 20, 'x', list)], '/api/v1/namespaces/b/pods', 'catch-all'],
  ['not all namespaces', [flow('b', 20, 'x', list)], '/api/v1/pods', 'catch-all'],
  [
    'all namespaces are of the cluster',
    [flow('b', 20, 'x', { ...list, namespaces: every, clusterScope: true })],
    '/api/v1/pods',
    'b',
  ],
  [
    'subresources',
    [flow('b', 20, 'x', { ...list, verbs: every })],
    '/api/v1/namespaces/a/pods/p/log',
    'catch-all',
  ],
  [
    'by their own name',
    [flow('b', 20, 'x', { ...list, verbs: every, resources: ['pods/log'] })],
    '/api/v1/namespaces/a/pods/p/log',
    'b',
  ],
  [
    'never before exempt',
    [flow('a', 1, 'x', { ...list, verbs: every })],
    '/api/v1/namespaces/b/pods',
    'catch-all',
  ],
])('%s', ([, schemas, url, name]) => {
  const level: KubeObject = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'x' },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  };
  const found = configurationOf(schemas, [level]);
  expect(found.flows.map((one) => one.name).slice(-1)).toEqual(['catch-all']);
  expect(found.flows[0]?.name).toBe('exempt');
  expect(new Classifier(found.flows).flowOf(people.ann, asked('GET', url)).name).toBe(name);
});
