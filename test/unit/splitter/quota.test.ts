import { expect, test } from 'vitest';
import type { ClusterSlice, Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import type { Limit } from '../../../kube/limit-range.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { formatQuantity } from '../../../kube/quantity.ts';
import { readList } from '../../../kube/quota/list.ts';
import { commonStep, divideAmount } from '../../../splitter/amounts.ts';
import { type Demand, demandOf, withQuota } from '../../../splitter/quota.ts';

const amounts = (of: Record<string, number>) => new Map(Object.entries(of).map(([c, n]) => [c, BigInt(n)]));

test.each<[string, number, Record<string, number>, Record<string, number>, Record<string, number>]>([
  ['as wanted, the rest like that', 10, { a: 3, b: 1 }, {}, { a: 8, b: 2 }],
  ['less than is wanted', 2, { a: 3, b: 2 }, {}, { a: 1, b: 1 }],
  ['what is used stays', 2, { a: 3, b: 2 }, { b: 2 }, { a: 0, b: 2 }],
  ['what is used counts as wanted', 4, { a: 2, b: 2 }, { a: 1 }, { a: 2, b: 2 }],
  ['more is used than there may be', 2, { a: 1, b: 1 }, { a: 3, b: 3 }, { a: 1, b: 1 }],
  ['nothing is wanted', 3, {}, {}, { a: 2, b: 1 }],
  ['nothing is there', 0, { a: 3, b: 2 }, {}, { a: 0, b: 0 }],
])('%s', (_what, whole, wanted, used, expected) => {
  const parts = divideAmount(BigInt(whole), ['a', 'b'], { wanted: amounts(wanted), used: amounts(used) });
  expect(parts).toEqual(amounts(expected));
});

test.each<[string, number, Record<string, number>, Record<string, number>, Record<string, number>]>([
  ['a pod that has room in all has room somewhere', 500, { a: 300, b: 300 }, {}, { a: 300, b: 200 }],
  ['where halves of one were given', 500, { a: 300, b: 300 }, { a: 200, b: 200 }, { a: 300, b: 200 }],
  ["what is less than one is nobody's in particular", 250, { a: 200, b: 200 }, {}, { a: 125, b: 125 }],
  ['less than one in all', 50, { a: 200, b: 100 }, {}, { a: 25, b: 25 }],
  ['what runs there uses something else', 500, { a: 300, b: 300 }, { a: 110, b: 90 }, { a: 210, b: 290 }],
  ['enough for all', 700, { a: 300, b: 300 }, {}, { a: 350, b: 350 }],
])('by whole pods of 100: %s', (_what, whole, wanted, used, expected) => {
  const of = { wanted: amounts(wanted), used: amounts(used), step: 100n };
  expect(divideAmount(BigInt(whole), ['a', 'b'], of)).toEqual(amounts(expected));
});

test.each<[number[], number]>([
  [[], 1],
  [[0], 1],
  [[100], 100],
  [[100, 0, 250], 50],
  [[100, 33], 1],
])('the step of pods that use %j', (of, step) => {
  expect(commonStep(of.map(BigInt))).toBe(BigInt(step));
});

const quota = (hard: object, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard, ...spec },
});
const active: Share = { phase: 'Active' };
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: [{ name: 'c' }] },
};

function demand(total: number, there: Record<string, number>, usage: object = { pods: '1' }): Demand {
  return { total, there: new Map(Object.entries(there)), usage: readList(usage), pod };
}

function shares(...hards: (Record<string, string> | undefined)[]): Record<string, Share> {
  return Object.fromEntries(hards.map((hard, i) => ['ab'[i] ?? '', { ...active, ...(hard && { hard }) }]));
}

function slices(...said: [hard: object, used: object][]): Record<string, ClusterSlice> {
  return Object.fromEntries(
    said.map(([hard, used], i) => ['ab'[i] ?? '', { present: true, status: { hard, used } }]),
  );
}

const pods = (n: number) => ({ pods: String(n) });
const both = shares(undefined, undefined);

interface Row {
  root: KubeObject;
  before?: Record<string, Share>;
  slices?: Record<string, ClusterSlice>;
  demands: Demand[];
}

test.each<[string, Row, object[]]>([
  [
    'new on both',
    { root: quota(pods(2)), before: {}, demands: [demand(5, { a: 3, b: 2 })] },
    [pods(1), pods(1)],
  ],
  [
    'where it was whole it shrinks before another grows',
    { root: quota(pods(4)), before: shares(undefined), demands: [demand(4, { a: 2, b: 2 })] },
    [pods(2), pods(0)],
  ],
  [
    'which its cluster has to say',
    {
      root: quota(pods(4)),
      before: shares(pods(2), pods(0)),
      slices: slices([pods(2), pods(2)], [pods(0), pods(0)]),
      demands: [demand(4, { a: 2, b: 2 })],
    },
    [pods(2), pods(2)],
  ],
  [
    'what runs there is not given to another',
    {
      root: quota(pods(4)),
      before: shares(pods(2), pods(0)),
      slices: slices([pods(2), pods(3)], [pods(0), pods(0)]),
      demands: [demand(4, { a: 2, b: 2 })],
    },
    [pods(3), pods(1)],
  ],
  [
    'a hand-over has room for both',
    {
      root: quota(pods(2)),
      before: shares(undefined),
      slices: slices([pods(2), pods(2)]),
      demands: [demand(2, { a: 2, b: 2 })],
    },
    [pods(2), pods(2)],
  ],
  [
    'processors by thousandths, memory as it is written, what is no pod not at all',
    {
      root: quota({ 'requests.cpu': '1', memory: '3Gi', configmaps: '9' }),
      before: {},
      demands: [demand(4, { a: 3, b: 1 }, { 'requests.cpu': '100m', memory: '512Mi' })],
    },
    [
      { 'requests.cpu': '750m', memory: '2304Mi' },
      { 'requests.cpu': '250m', memory: '768Mi' },
    ],
  ],
  [
    'what no template asks for, and pods use there all the same, they use elsewhere too',
    {
      root: quota({ 'requests.cpu': '3' }),
      before: shares(undefined),
      slices: slices([{ 'requests.cpu': '3' }, { 'requests.cpu': '1' }]),
      demands: [demand(4, { a: 4, b: 4 })],
    },
    [{ 'requests.cpu': '3' }, { 'requests.cpu': '3' }],
  ],
  [
    'a pod that has room in all has room on one of them, though others ask for more',
    {
      root: quota({ cpu: '500m' }),
      before: {},
      demands: [demand(4, { a: 2, b: 2 }, { cpu: '100m' }), demand(2, { a: 1, b: 1 }, { cpu: '200m' })],
    },
    [{ cpu: '300m' }, { cpu: '200m' }],
  ],
  [
    'a pod that has room in all has room on one of them, whatever a workload of none would ask for',
    {
      root: quota({ cpu: '500m' }),
      before: {},
      demands: [demand(6, { a: 3, b: 3 }, { cpu: '100m' }), demand(0, { a: 0, b: 0 }, { cpu: '33m' })],
    },
    [{ cpu: '300m' }, { cpu: '200m' }],
  ],
  [
    'what is out of its scope does not count',
    {
      root: quota(pods(4), { scopes: ['Terminating'] }),
      before: {},
      demands: [demand(4, { a: 4 })],
    },
    [pods(2), pods(2)],
  ],
])('%s', (_what, { root, before = both, slices: said = {}, demands }, expected) => {
  const divided = withQuota(root, both, { before, slices: said, demands });
  expect(Object.values(divided).map(({ hard }) => hard)).toEqual(expected);
});

test('on one cluster it is whole, and other kinds have none of it', () => {
  const one = shares(pods(1));
  const options = { before: one, slices: {}, demands: [] };
  expect(withQuota(quota(pods(2)), one, options)).toEqual({ a: active });
  expect(withQuota(pod, both, options)).toBe(both);
});

const appsRoot = (kind: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: {},
  spec: { replicas: 3, template: pod },
});
const three: Share = { phase: 'Active', replicas: 3 };
const leaves = 'Leaving' as const;

function placementOf(spec: Partial<PlacementSpec>, nodes: Record<string, number> = {}): Placement {
  const counted = ([c, n]: [string, number]) => [c, { present: true, status: { desiredNumberScheduled: n } }];
  const clusters = Object.fromEntries(Object.entries(nodes).map(counted));
  const metadata = {};
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata,
    spec,
    status: { clusters },
  } as Placement;
}

test.each<[string, KubeObject, Placement, Record<string, ClusterSlice>]>([
  [
    'a share that leaves, of a silent cluster perhaps, takes nothing from where its pods run by now',
    appsRoot('Deployment'),
    placementOf({ clusters: ['b'], shares: { a: { ...three, phase: leaves }, b: three } }),
    slices([pods(3), pods(3)], [pods(3), pods(3)]),
  ],
  [
    'the pods of a DaemonSet that moves have room on both, as many as there are nodes',
    appsRoot('DaemonSet'),
    placementOf({ clusters: ['b'], shares: { a: active, b: { phase: 'Joining' } } }, { a: 3 }),
    slices([pods(3), pods(3)], [pods(0), pods(0)]),
  ],
])('%s', (_what, root, placement, said) => {
  const before = shares(pods(3), pods(0));
  const divided = withQuota(quota(pods(3)), both, {
    before,
    slices: said,
    demands: [demandOf(root, placement)],
  });
  expect(Object.values(divided).map(({ hard }) => hard)).toEqual([pods(3), pods(3)]);
});

test.each<[string, KubeObject, Placement, number]>([
  ['as its root says', appsRoot('Deployment'), placementOf({ clusters: ['a'], shares: { a: three } }), 3],
  [
    'as it is scaled',
    appsRoot('Deployment'),
    placementOf({
      clusters: ['a'],
      shares: { a: three },
      scale: { replicas: 5, generation: 1, clusters: ['a'] },
    }),
    5,
  ],
  [
    'by nodes',
    appsRoot('DaemonSet'),
    placementOf({ clusters: ['a', 'b'], shares: { a: active, b: active } }, { a: 2, b: 4 }),
    6,
  ],
  [
    'of nodes that nobody counted',
    appsRoot('DaemonSet'),
    placementOf({ clusters: ['a'], shares: { a: active } }),
    1,
  ],
  [
    'where nothing fits, where it is',
    appsRoot('DaemonSet'),
    placementOf({ clusters: [], shares: { a: active, b: { phase: leaves } } }, { a: 2, b: 4 }),
    2,
  ],
  ['one', pod, placementOf({ clusters: ['b'], shares: { a: { phase: leaves }, b: active } }), 1],
])('how many pods there are to be: %s', (_what, root, placement, total) => {
  expect(demandOf(root, placement).total).toBe(total);
});

const range: Limit = {
  type: 'Container',
  default: { cpu: '500m' },
  defaultRequest: { cpu: '250m' },
};

test.each<[string, object | undefined, string, string | undefined]>([
  ['what it asks for', { requests: { cpu: '2' }, limits: { cpu: '3' } }, '2', '3'],
  ['without a request, its limit', { limits: { cpu: '3' } }, '3', '3'],
  ['without either, what a LimitRange says', undefined, '250m', '500m'],
])('what a pod of a template uses: %s', (_what, resources, requests, limits) => {
  const spec = { containers: [{ name: 'c', ...(resources && { resources }) }] };
  const root = { ...appsRoot('Deployment'), spec: { replicas: 3, template: { spec } } };
  const before = structuredClone(root);
  const { usage } = demandOf(root, placementOf({ clusters: ['a'], shares: { a: three } }), [[range]]);
  const said = (name: string) =>
    formatQuantity(usage.get(name) ?? { value: 0n, scale: 0, format: 'DecimalSI' });
  expect([said('requests.cpu'), said('limits.cpu')]).toEqual([requests, limits]);
  expect(root).toEqual(before);
});
