import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { humanDuration } from '../../../../kube/table/format.ts';
import { inPrintedOrder, tableFor } from '../../../../kube/table/index.ts';
import { infoOf, named } from '../kinds.ts';

const now = new Date('2030-01-02T00:00:00Z');
const metadata = { creationTimestamp: '2030-01-01T23:55:00Z' };

function row(object: KubeObject): Record<string, unknown> {
  const { columnDefinitions, cells } = tableFor(infoOf(object), [object], now);
  return Object.fromEntries(columnDefinitions.map((column, index) => [column.name, cells[0]?.[index]]));
}

const waiting = (reason: string) => ({ name: 'web', state: { waiting: { reason } }, restartCount: 0 });
const running = { name: 'web', ready: true, state: { running: {} }, restartCount: 0 };
const crashed = {
  ...waiting('CrashLoopBackOff'),
  restartCount: 4,
  lastState: { terminated: { finishedAt: '2030-01-01T23:59:00Z' } },
};

const pods: [string, object, object, object][] = [
  ['pending', {}, { phase: 'Pending' }, { Status: 'Pending', Ready: '0/1', Restarts: '0' }],
  ['running', {}, { phase: 'Running', containerStatuses: [running] }, { Status: 'Running', Ready: '1/1' }],
  [
    'crashing',
    {},
    { phase: 'Running', containerStatuses: [crashed] },
    { Status: 'CrashLoopBackOff', Ready: '0/1', Restarts: '4 (60s ago)' },
  ],
  [
    'initialising',
    { initContainers: [{ name: 'a' }, { name: 'b' }] },
    { phase: 'Pending', initContainerStatuses: [{ name: 'a', state: { running: {} }, restartCount: 0 }] },
    { Status: 'Init:0/2', Ready: '0/1' },
  ],
  [
    'with a sidecar',
    { initContainers: [{ name: 'a', restartPolicy: 'Always' }] },
    {
      phase: 'Running',
      initContainerStatuses: [
        { name: 'a', started: true, ready: true, state: { running: {} }, restartCount: 1 },
      ],
      containerStatuses: [running],
    },
    { Status: 'Running', Ready: '2/2', Restarts: '1' },
  ],
  [
    'done',
    {},
    {
      phase: 'Succeeded',
      containerStatuses: [{ name: 'web', state: { terminated: { reason: 'Completed', exitCode: 0 } } }],
    },
    { Status: 'Completed', Ready: '0/1' },
  ],
];

describe('pods', () => {
  it.each(pods)('%s', (_what, spec, status, expected) => {
    const pod = named('v1', 'Pod', { metadata, spec: { containers: [{ name: 'web' }], ...spec }, status });
    expect(row(pod)).toMatchObject({ Name: 'tide', Age: '5m', Node: '<none>', ...expected });
  });

  it('terminating', () => {
    const leaving = { ...metadata, deletionTimestamp: '2030-01-01T23:59:59Z' };
    expect(row(named('v1', 'Pod', { metadata: leaving, status: { phase: 'Running' } }))['Status']).toBe(
      'Terminating',
    );
  });
});

const template = {
  spec: {
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'y' },
    ],
  },
};
const others: [string, KubeObject, object][] = [
  [
    'a Deployment',
    named('apps/v1', 'Deployment', {
      metadata,
      spec: {
        replicas: 3,
        template,
        selector: { matchLabels: { app: 't' }, matchExpressions: [{ key: 'z', operator: 'Exists' }] },
      },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
    }),
    {
      Ready: '2/3',
      'Up-to-date': 3,
      Available: 1,
      Age: '5m',
      Containers: 'a,b',
      Images: 'x,y',
      Selector: 'app=t,z',
    },
  ],
  [
    'a Service',
    named('v1', 'Service', {
      spec: {
        type: 'LoadBalancer',
        clusterIPs: ['10.0.0.1'],
        ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
      },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
    }),
    { 'Cluster-IP': '10.0.0.1', 'External-IP': '203.0.113.9', 'Port(s)': '80:30080/TCP', Selector: '<none>' },
  ],
  [
    'a Job',
    named('batch/v1', 'Job', {
      spec: { completions: 2, template },
      status: {
        succeeded: 2,
        startTime: '2030-01-01T23:00:00Z',
        completionTime: '2030-01-01T23:03:20Z',
        conditions: [{ type: 'Complete', status: 'True' }],
      },
    }),
    { Status: 'Complete', Completions: '2/2', Duration: '3m20s' },
  ],
  [
    'a Node',
    named('v1', 'Node', {
      metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    { Status: 'Ready,SchedulingDisabled', Roles: 'control-plane' },
  ],
  [
    'an autoscaler',
    named('autoscaling/v2', 'HorizontalPodAutoscaler', {
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { kind: 'Deployment', name: 'd' },
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
      },
    }),
    { Reference: 'Deployment/d', Targets: 'cpu: <unknown>/80%', MinPods: '<unset>', MaxPods: 5 },
  ],
  [
    'Endpoints',
    named('v1', 'Endpoints', {
      subsets: [
        { addresses: ['1', '2', '3', '4'].map((n) => ({ ip: `10.0.0.${n}` })), ports: [{ port: 80 }] },
      ],
    }),
    { Endpoints: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...' },
  ],
  [
    'a claim that is bound, to whatever volume',
    named('v1', 'PersistentVolumeClaim', {
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    }),
    { Status: 'Bound', Volume: '', Capacity: '2Gi', 'Access Modes': 'RWO' },
  ],
  [
    'a claim that is not',
    named('v1', 'PersistentVolumeClaim', {
      status: { phase: 'Pending', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    }),
    { Status: 'Pending', Volume: '', Capacity: '', 'Access Modes': '' },
  ],
  [
    'a quota',
    named('v1', 'ResourceQuota', {
      status: { hard: { pods: '4', 'limits.cpu': '2' }, used: { pods: '1', 'limits.cpu': '1' } },
    }),
    { Request: 'pods: 1/4', Limit: 'limits.cpu: 1/2' },
  ],
  [
    'a Role',
    named('rbac.authorization.k8s.io/v1', 'Role', { metadata }),
    { 'Created At': '2030-01-01T23:55:00Z' },
  ],
  ['a custom resource', named('sea.example/v1', 'Tide', { metadata }), { Name: 'tide', Age: '5m' }],
];

describe('other kinds', () => {
  it.each(others)('%s', (_what, object, expected) => {
    expect(row(object)).toMatchObject(expected);
  });

  it('marks what belongs to the wide page', () => {
    const { columnDefinitions } = tableFor(infoOf({ apiVersion: 'v1', kind: 'Pod' }), [], now);
    expect(columnDefinitions.map((column) => column.priority)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1]);
    expect(columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string', format: 'name' });
  });
});

it.each([
  ['three hosts', ['a', 'b', 'c'], 'a,b,c'],
  ['three, and any', ['a', 'b', 'c', ''], 'a,b,c + 1 more...'],
  ['any before three', ['', 'a', 'b', 'c'], 'a,b,c'],
  ['any', ['', ''], '*'],
])('an Ingress of %s', (_what, hosts, Hosts) => {
  const rules = hosts.map((host) => ({ host }));
  expect(row(named('networking.k8s.io/v1', 'Ingress', { spec: { rules } }))).toMatchObject({ Hosts });
});

it.each([
  [-5, '<invalid>'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [599, '9m59s'],
  [600, '10m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 60, '3h1m'],
  [47 * 3600, '47h'],
  [48 * 3600, '2d'],
  [49 * 3600, '2d1h'],
  [8 * 86400, '8d'],
  [800 * 86400, '2y70d'],
])('%d s ago is %s', (seconds, shown) => {
  expect(humanDuration(seconds * 1000)).toBe(shown);
});

it('lists of FlowSchemas are printed as requests are matched', () => {
  const schema = (name: string, matchingPrecedence: number) =>
    named('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', {
      metadata: { name },
      spec: { matchingPrecedence },
    });
  const listed = [schema('catch-all', 10_000), schema('exempt', 1), schema('b', 500), schema('a', 500)];
  const printed = inPrintedOrder(infoOf(schema('x', 1)), listed);
  expect(printed.map(({ metadata: { name } }) => name)).toEqual(['exempt', 'a', 'b', 'catch-all']);
  expect(listed[0]?.metadata.name).toBe('catch-all');
});

it('lists of other kinds are printed as they are', () => {
  const listed = ['b', 'a'].map((name) => named('v1', 'ConfigMap', { metadata: { name } }));
  expect(inPrintedOrder(infoOf(listed[0] as KubeObject), listed)).toEqual(listed);
});
