import { type Case, type Request, rv, type Step } from '../case.ts';

const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
const merge = 'application/merge-patch+json';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

function range(name: string, cidrs: unknown, more: object = {}): Request {
  const head = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name } };
  return { method: 'POST', path: ranges, body: { ...head, spec: { cidrs }, ...more } };
}

function address(name: string, parentRef: unknown): Request {
  const head = { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', metadata: { name } };
  return { method: 'POST', path: `${addresses}?dryRun=All`, body: { ...head, spec: { parentRef } } };
}

const condition = {
  type: 'Ready',
  status: 'False',
  reason: 'Why',
  message: 'so',
  lastTransitionTime: '2020-01-02T03:04:05Z',
};

const cidrs: readonly unknown[] = [
  ['198.18.0.0/24'],
  ['198.18.0.0/24', 'fd00:1::/112'],
  ['fd00:1::/112'],
  ['198.18.0.0/24', '198.18.1.0/24'],
  ['198.18.0.0/24', 'fd00:1::/112', '198.18.1.0/24'],
  ['198.18.0.1/24'],
  ['198.18.0.0/32'],
  ['198.018.0.0/24'],
  ['198.18.0.0'],
  ['::ffff:198.18.0.0/120'],
  ['fd00:1:0::/112'],
  ['FD00:1::/112'],
  [''],
  [],
  null,
  'x',
];

const parent = { resource: 'services', name: 'a', namespace: 'default' };

const parents: readonly unknown[] = [
  parent,
  { ...parent, group: 'example.com' },
  { ...parent, group: 'Not/One' },
  { resource: 'services', name: 'a' },
  { resource: 'services' },
  { name: 'a' },
  { ...parent, resource: 'a/b' },
  { ...parent, namespace: 'Not_One' },
  {},
  null,
];

const names = [
  '198.18.0.1',
  '198.018.0.1',
  'fd00::1',
  'fd00:0::1',
  'FD00::1',
  '::ffff:1.2.3.4',
  'x',
  '198.18.0.0/24',
];

/** Where addresses of Services come from, and who has one. */
export function addressesCases(): Case[] {
  const dry = { path: `${ranges}?dryRun=All` };
  return [
    ...cidrs.map(
      (given, i): Case => ({
        id: `writes/addresses/range/${i}`,
        area: 'writes',
        steps: ({ name }) => [{ ...range(name, given), ...dry }],
      }),
    ),
    ...parents.map(
      (given, i): Case => ({
        id: `writes/addresses/parent/${i}`,
        area: 'writes',
        steps: () => [address('198.18.9.1', given)],
      }),
    ),
    ...names.map(
      (name): Case => ({
        id: `writes/addresses/name/${name}`,
        area: 'writes',
        steps: () => [address(name, parent)],
      }),
    ),
    { id: 'writes/addresses/kubernetes', area: 'writes', steps: () => kubernetes },
    { id: 'writes/addresses/service', area: 'writes', ownNamespace: true, steps: ({ ns }) => serviceOf(ns) },
    { id: 'writes/addresses/life', area: 'writes', steps: ({ name }) => lifeOf(name) },
  ];
}

/** The one that each API server has; conditions and spec are shown, nobody changes its ranges. */
const kubernetes: Step[] = [
  { method: 'GET', path: `${ranges}/kubernetes` },
  { method: 'GET', path: `${ranges}/kubernetes`, accept: table },
  { method: 'GET', path: `${ranges}/kubernetes/status` },
  range('kubernetes', ['198.18.0.0/24']),
  {
    method: 'PATCH',
    path: `${ranges}/kubernetes`,
    contentType: merge,
    body: { spec: { cidrs: ['198.18.0.0/24'] } },
  },
  { method: 'PATCH', path: `${ranges}/kubernetes`, contentType: merge, body: { spec: { cidrs: null } } },
  {
    method: 'PATCH',
    path: `${ranges}/kubernetes?dryRun=All`,
    contentType: merge,
    body: { metadata: { labels: { a: 'b' } }, status: { conditions: [] } },
  },
  { method: 'DELETE', path: `${ranges}/kubernetes?dryRun=All` },
];

function lifeOf(name: string): Step[] {
  const one = `${ranges}/${name}`;
  const patch = (body: object, path = one): Step => ({ method: 'PATCH', path, contentType: merge, body });
  return [
    range(name, ['198.18.7.0/24'], { status: { conditions: [condition] } }),
    range(name, ['198.18.7.0/24']),
    { method: 'GET', path: one },
    patch({ spec: { cidrs: ['198.18.8.0/24'] } }),
    patch({ spec: { cidrs: [] } }),
    patch({ spec: { cidrs: ['198.18.7.0/24', 'fd00:7::/112'] } }, `${one}?dryRun=All`),
    patch({ status: { conditions: [condition] } }),
    patch({ status: { conditions: [condition] }, spec: { cidrs: ['198.18.8.0/24'] } }, `${one}/status`),
    patch({ status: { conditions: [condition, condition] } }, `${one}/status?dryRun=All`),
    patch({ status: { conditions: [{ type: 'Ready' }] } }, `${one}/status?dryRun=All`),
    (seen) => ({
      method: 'PUT',
      path: `${one}?dryRun=All`,
      body: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        spec: { cidrs: ['198.18.7.0/24'] },
        metadata: { name, resourceVersion: rv(seen[2]) },
      },
    }),
    { method: 'GET', path: one, accept: table },
    { method: 'DELETE', path: one },
    { method: 'GET', path: one },
  ];
}

/** Its address is an object of its own, for as long as the Service has it. */
function serviceOf(namespace: string): Step[] {
  const services = `/api/v1/namespaces/${namespace}/services`;
  const service = (name: string, spec: object): Step => ({
    method: 'POST',
    path: services,
    body: { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
  });
  const ofFirst: Step = (seen) => ({
    method: 'GET',
    path: `${addresses}/${seen[0]?.json?.['spec']?.['clusterIP'] ?? 'none'}`,
  });
  return [
    service('a', {}),
    ofFirst,
    service('far', { clusterIP: '198.18.77.5' }),
    service('six', { clusterIP: 'fd00:77::5' }),
    { method: 'DELETE', path: `${services}/a` },
    ofFirst,
  ];
}
