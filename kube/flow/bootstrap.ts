import type { KubeObject } from '../object.ts';

export const flowGroup = 'flowcontrol.apiserver.k8s.io';
/** In the order in which they are made: what is named comes before what names it. */
export const flowResources = ['prioritylevelconfigurations', 'flowschemas'] as const;
export type FlowResource = (typeof flowResources)[number];

/** What requests are sorted into where nobody says otherwise; there always is one of each. */
export const exempt = 'exempt';
export const catchAll = 'catch-all';

/**
 * The objects that every kube-apiserver 1.36 makes, as it makes them: k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
 * One copy for everybody: nobody may change it.
 */
export function bootstrapFlows(resource: FlowResource): readonly KubeObject[] {
  return resource === 'flowschemas' ? schemas : levels;
}

const every = ['*'];
const anything = {
  resourceRules: [
    { verbs: every, apiGroups: every, resources: every, clusterScope: true, namespaces: every },
  ],
  nonResourceRules: [{ verbs: every, nonResourceURLs: every }],
};
const everybody = [group('system:unauthenticated'), group('system:authenticated')];
const kubeSystem = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const leases = (verbs: string[]) => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: every,
});
const nodes = {
  verbs: every,
  apiGroups: [''],
  resources: ['nodes', 'nodes/status'],
  clusterScope: true,
  namespaces: every,
};

const levels: readonly KubeObject[] = [
  levelOf(catchAll, limited(5, 0)),
  levelOf(exempt, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  levelOf('system', limited(30, 33, [64, 6])),
  levelOf('node-high', limited(40, 25, [64, 6])),
  levelOf('leader-election', limited(10, 0, [16, 4])),
  levelOf('workload-high', limited(40, 50, [128, 6])),
  levelOf('workload-low', limited(100, 90, [128, 6])),
  levelOf('global-default', limited(20, 50, [128, 6])),
];

const schemas: readonly KubeObject[] = [
  schema(exempt, exempt, 1, '', [group('system:masters')], anything),
  schema(catchAll, catchAll, 10_000, 'ByUser', everybody, anything),
  schema('system-nodes', 'system', 500, 'ByUser', [group('system:nodes')], anything),
  schema('system-node-high', 'node-high', 400, 'ByUser', [group('system:nodes')], {
    resourceRules: [nodes, leases(every)],
  }),
  schema('probes', exempt, 2, '', everybody, {
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema(
    'system-leader-election',
    'leader-election',
    100,
    'ByUser',
    [user('system:kube-controller-manager'), user('system:kube-scheduler'), kubeSystem],
    { resourceRules: [leases(['get', 'create', 'update'])] },
  ),
  schema(
    'kube-controller-manager',
    'workload-high',
    800,
    'ByNamespace',
    [user('system:kube-controller-manager')],
    anything,
  ),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', [user('system:kube-scheduler')], anything),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', [kubeSystem], anything),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', [group('system:serviceaccounts')], anything),
  schema('global-default', 'global-default', 9900, 'ByUser', everybody, anything),
];

function limited(shares: number, lendablePercent: number, queues?: [queues: number, handSize: number]) {
  const queuing = queues && { queues: queues[0], handSize: queues[1], queueLengthLimit: 50 };
  return {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: queuing ? { type: 'Queue', queuing } : { type: 'Reject' },
      lendablePercent,
    },
  };
}

function levelOf(name: string, spec: object): KubeObject {
  return made('PriorityLevelConfiguration', name, spec);
}

function schema(
  name: string,
  level: string,
  matchingPrecedence: number,
  by: '' | 'ByUser' | 'ByNamespace',
  subjects: object[],
  rules: object,
): KubeObject {
  return made('FlowSchema', name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(by !== '' && { distinguisherMethod: { type: by } }),
    rules: [{ subjects, ...rules }],
  });
}

function made(kind: string, name: string, spec: object): KubeObject {
  const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' };
  return { kind, apiVersion: `${flowGroup}/v1`, metadata: { name, annotations }, spec };
}

function group(name: string): object {
  return { kind: 'Group', group: { name } };
}

function user(name: string): object {
  return { kind: 'User', user: { name } };
}
