import type { Answer, Case, Names, Request, Step } from '../case.ts';
import { quotaObjectsCases } from './quota-objects.ts';

export const core = (ns: string, resource: string) => `/api/v1/namespaces/${ns}/${resource}`;
const merge = 'application/merge-patch+json';

export function quotasCases(): Case[] {
  return [...pods(), ...scopes(), ...services(), ...claims(), ...counts(), ...quotaObjectsCases()];
}

export function quotaCase(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `quota/${id}`, area: 'quota', ownNamespace: true, steps };
}

export const post = (path: string, body: object): Request => ({ method: 'POST', path, body });
export const get = (path: string): Request => ({ method: 'GET', path });
export const silent = (request: Request): Request => ({ ...request, silent: true });
export const dry = (request: Request): Request => ({ ...request, path: `${request.path}?dryRun=All` });
const patch = (path: string, body: object): Request => ({ method: 'PATCH', path, contentType: merge, body });

/** By which a case knows that admission has heard of a quota: it allows no ConfigMap. */
const told = 'configmaps';

/** A quota as the controller leaves it, when admission has heard of it. */
export function bound(ns: string, hard: object, used: object, spec: object = {}, name = 'q'): Request[] {
  const isScoped = Object.keys(spec).length > 0;
  const all = isScoped ? { hard, used } : { hard: { ...hard, [told]: '0' }, used: { ...used, [told]: '0' } };
  return [
    silent(post(core(ns, 'resourcequotas'), { metadata: { name }, spec: { hard: all.hard, ...spec } })),
    silent(patch(`${core(ns, 'resourcequotas')}/${name}/status`, { status: all })),
    ...(isScoped ? [] : [heard(ns, name)]),
  ];
}

function heard(ns: string, name: string): Request {
  const says = ({ body }: Answer) => body.includes(`exceeded quota: ${name},`);
  return { ...silent(dry(post(core(ns, 'configmaps'), { metadata: { name: 'x' } }))), until: says };
}

export const used = (ns: string, name = 'q') => get(`${core(ns, 'resourcequotas')}/${name}`);

export interface PodParts {
  requests?: object;
  limits?: object;
  init?: object[];
  spec?: object;
}

export function pod(ns: string, name: string, { requests, limits, init, spec }: PodParts = {}): Request {
  const resources = { ...(requests && { requests }), ...(limits && { limits }) };
  const containers = [{ name: 'c', image: 'c', resources }];
  const initContainers = init?.map((one, i) => ({ name: `i${i}`, image: 'i', ...one }));
  const body = {
    metadata: { name },
    spec: { containers, ...(initContainers && { initContainers }), ...spec },
  };
  return post(core(ns, 'pods'), body);
}

const asks = (requests: object, more: object = {}) => ({ resources: { requests }, ...more });

function pods(): Case[] {
  const compute = {
    pods: '3',
    'count/pods': '5',
    'requests.cpu': '2',
    memory: '1Gi',
    'limits.cpu': '4',
    'limits.memory': '2Gi',
  };
  const none = Object.fromEntries(Object.keys(compute).map((name) => [name, '0']));
  const all = { requests: { cpu: '500m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } };
  const named = (ns: string, what: string) => `${core(ns, 'pods')}/${what}`;
  return [
    quotaCase('pods', ({ ns }) => [
      ...bound(ns, compute, none),
      pod(ns, 'none'),
      pod(ns, 'half', { requests: { cpu: '1' } }),
      pod(ns, 'limits', { limits: { cpu: '1', memory: '1Mi' } }),
      pod(ns, 'init', { ...all, init: [{}, asks({ cpu: '1' })] }),
      dry(pod(ns, 'one', all)),
      pod(ns, 'one', all),
      used(ns),
      pod(ns, 'big', { ...all, requests: { cpu: '1', memory: '1Gi' } }),
      pod(ns, 'bigger', { requests: { cpu: '4', memory: '2Gi' }, limits: { cpu: '8', memory: '4Gi' } }),
      pod(ns, 'two', all),
      used(ns),
      { method: 'DELETE', path: `${named(ns, 'two')}?gracePeriodSeconds=0` },
      used(ns),
      pod(ns, 'whole', { spec: { resources: { requests: { cpu: '100m', memory: '1Mi' } } } }),
      used(ns),
      pod(ns, 'four', all),
      dry(pod(ns, 'four', all)),
      get(core(ns, 'resourcequotas')),
    ]),
    ...(
      [
        ['init', { requests: { cpu: '1' }, init: [asks({ cpu: '3' }), asks({ cpu: '1' })] }],
        [
          'sidecars',
          {
            requests: { cpu: '1' },
            init: [asks({ cpu: '2' }, { restartPolicy: 'Always' }), asks({ cpu: '2500m' })],
          },
        ],
        ['sidecar', { requests: { cpu: '2' }, init: [asks({ cpu: '2' }, { restartPolicy: 'Always' })] }],
        ['whole', { requests: { cpu: '1' }, spec: { resources: { requests: { cpu: '2500m' } } } }],
        ['fraction', { requests: { cpu: '0.5' } }],
        ['formats', { requests: { cpu: '1', memory: '1e6' } }],
        ['binary', { requests: { cpu: '1', memory: '1024Ki', 'ephemeral-storage': '1Gi' } }],
        ['extended', { requests: { cpu: '1', 'example.com/gpu': '2' }, limits: { 'example.com/gpu': '2' } }],
        ['huge', { requests: { cpu: '1', 'hugepages-2Mi': '4Mi' }, limits: { 'hugepages-2Mi': '4Mi' } }],
      ] as [string, PodParts][]
    ).map(([what, parts]) =>
      quotaCase(`pods/${what}`, ({ ns }) => [
        ...bound(
          ns,
          {
            cpu: '5',
            'requests.cpu': '5',
            'requests.memory': '100Mi',
            'requests.ephemeral-storage': '2Gi',
            'requests.example.com/gpu': '3',
            'hugepages-2Mi': '6Mi',
          },
          {
            cpu: '0',
            'requests.cpu': '0',
            'requests.memory': '0',
            'requests.ephemeral-storage': '0',
            'requests.example.com/gpu': '0',
            'hugepages-2Mi': '0',
          },
        ),
        pod(ns, 'short', { ...parts, requests: { ...parts.requests, memory: '1' } }),
        pod(ns, 'a', { ...parts, requests: { memory: '60Mi', ...parts.requests } }),
        used(ns),
        pod(ns, 'b', { ...parts, requests: { memory: '60Mi', ...parts.requests } }),
        used(ns),
      ]),
    ),
    quotaCase('pods/resize', ({ ns }) => {
      const resized = (requests: object) => ({
        spec: { containers: [{ name: 'c', resources: { requests } }] },
      });
      const strategic = 'application/strategic-merge-patch+json';
      const resize = (requests: object): Request => ({
        method: 'PATCH',
        path: `${named(ns, 'one')}/resize`,
        contentType: strategic,
        body: resized(requests),
      });
      return [
        ...bound(ns, { 'requests.cpu': '2' }, { 'requests.cpu': '0' }),
        pod(ns, 'one', { requests: { cpu: '1' } }),
        resize({ cpu: '1500m' }),
        used(ns),
        resize({ cpu: '2500m' }),
        resize({ cpu: '1' }),
        used(ns),
      ];
    }),
    quotaCase('pods/written', ({ ns }) => [
      ...bound(ns, { 'requests.cpu': '5' }, { 'requests.cpu': '0' }),
      ...[' 6 ', '\u00a06', '6.', '+6', '6000m ', '6e0', 6, '6 0', '--6', '6Ki6', '+', 'Ki'].map((cpu, i) =>
        pod(ns, `p${i}`, { requests: { cpu } }),
      ),
      used(ns),
    ]),
    quotaCase('pods/long', ({ ns }) =>
      [`1.${'0'.repeat(1030)}`, '1e1001'].map((cpu, i) => pod(ns, `p${i}`, { requests: { cpu } })),
    ),
    quotaCase('unknown', ({ ns }) => [
      silent(post(core(ns, 'resourcequotas'), { metadata: { name: 'q' }, spec: { hard: { pods: '0' } } })),
      pod(ns, 'before'),
      silent(
        patch(`${core(ns, 'resourcequotas')}/q/status`, {
          status: { hard: { pods: '1', [told]: '0', cpu: '1' }, used: { [told]: '0' } },
        }),
      ),
      heard(ns, 'q'),
      pod(ns, 'after'),
      pod(ns, 'asking', { requests: { cpu: '1' } }),
      used(ns),
    ]),
  ];
}

function scopes(): Case[] {
  const affinity = (more: object) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {}, ...more }],
      },
    },
  });
  const one = (scope: string, operator: string, values?: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: scope, operator, ...(values && { values }) }] },
  });
  const high = { priorityClassName: 'system-node-critical' };
  const table: [string, object, PodParts, PodParts][] = [
    ['terminating', { scopes: ['Terminating'] }, { spec: { activeDeadlineSeconds: 9 } }, {}],
    ['not-terminating', { scopes: ['NotTerminating'] }, {}, { spec: { activeDeadlineSeconds: 9 } }],
    ['best-effort', { scopes: ['BestEffort'] }, {}, { requests: { cpu: '1' } }],
    ['not-best-effort', { scopes: ['NotBestEffort'] }, { requests: { cpu: '1' } }, {}],
    ['both', { scopes: ['BestEffort', 'NotTerminating'] }, {}, { spec: { activeDeadlineSeconds: 9 } }],
    [
      'cross',
      { scopes: ['CrossNamespacePodAffinity'] },
      { spec: affinity({ namespaces: ['a'] }) },
      { spec: affinity({}) },
    ],
    [
      'cross-any',
      one('CrossNamespacePodAffinity', 'Exists'),
      { spec: affinity({ namespaceSelector: {} }) },
      {},
    ],
    ['priority', one('PriorityClass', 'Exists'), { spec: high }, {}],
    ['priority-in', one('PriorityClass', 'In', [high.priorityClassName]), { spec: high }, {}],
    ['priority-not-in', one('PriorityClass', 'NotIn', ['other']), { spec: high }, {}],
    ['priority-none', one('PriorityClass', 'DoesNotExist'), {}, { spec: high }],
  ];
  return table.map(([what, spec, inside, outside]) =>
    quotaCase(`scopes/${what}`, ({ ns }) => [
      ...bound(ns, { pods: '1' }, { pods: '0' }, spec, 's'),
      ...bound(ns, { 'count/pods': '5' }, { 'count/pods': '0' }),
      pod(ns, 'out', outside),
      used(ns, 's'),
      pod(ns, 'in', inside),
      used(ns, 's'),
      pod(ns, 'over', inside),
      pod(ns, 'another', outside),
      used(ns, 's'),
      used(ns),
      {
        method: 'PATCH',
        path: `${core(ns, 'pods')}/out`,
        contentType: merge,
        body: { spec: { activeDeadlineSeconds: 5 } },
      },
      used(ns, 's'),
    ]),
  );
}

function services(): Case[] {
  const service = (ns: string, name: string, spec: object, count = 1) => {
    const ports = Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 80 + i }));
    return post(core(ns, 'services'), { metadata: { name }, spec: { ports, ...spec } });
  };
  const change = (ns: string, name: string, spec: object) =>
    patch(`${core(ns, 'services')}/${name}`, { spec });
  const hard = {
    services: '4',
    'services.nodeports': '3',
    'services.loadbalancers': '1',
    'count/services': '4',
  };
  const none = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  return [
    quotaCase('services', ({ ns }) => [
      ...bound(ns, hard, none),
      silent(service(ns, 'a', {})),
      used(ns),
      service(ns, 'b', { type: 'NodePort' }, 4),
      silent(service(ns, 'b', { type: 'NodePort' }, 2)),
      used(ns),
      service(ns, 'c', { type: 'LoadBalancer' }, 2),
      silent(change(ns, 'a', { type: 'LoadBalancer' })),
      used(ns),
      service(ns, 'd', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
      change(ns, 'b', { type: 'LoadBalancer' }),
      silent(change(ns, 'b', { type: 'ClusterIP', ports: [{ name: 'p0', port: 80 }] })),
      used(ns),
      silent(service(ns, 'e', { type: 'ExternalName', externalName: 'example.com', ports: undefined })),
      used(ns),
      dry(service(ns, 'f', { type: 'NodePort' })),
      silent(service(ns, 'f', {})),
      service(ns, 'g', {}),
      used(ns),
    ]),
  ];
}

function claims(): Case[] {
  const gold = 'gold.storageclass.storage.k8s.io/';
  const hard = {
    persistentvolumeclaims: '3',
    'requests.storage': '10Gi',
    [`${gold}requests.storage`]: '3Gi',
    [`${gold}persistentvolumeclaims`]: '2',
  };
  const none = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  const claim = (ns: string, name: string, storage: string, spec: object = {}, metadata: object = {}) =>
    post(core(ns, 'persistentvolumeclaims'), {
      metadata: { name, ...metadata },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
    });
  const of = { storageClassName: 'gold' };
  const beta = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'gold' } };
  return [
    quotaCase('claims', ({ ns }) => [
      ...bound(ns, hard, none),
      claim(ns, 'a', '20Gi'),
      claim(ns, 'a', '1Gi'),
      used(ns),
      claim(ns, 'b', '4Gi', of),
      claim(ns, 'b', '2Gi', of),
      claim(ns, 'c', '2Gi', {}, beta),
      dry(claim(ns, 'c', '1G', of)),
      used(ns),
      patch(`${core(ns, 'persistentvolumeclaims')}/b`, {
        spec: { resources: { requests: { storage: '5Gi' } } },
      }),
      patch(`${core(ns, 'persistentvolumeclaims')}/a/status`, {
        status: { allocatedResources: { storage: '2Gi' } },
      }),
      used(ns),
      claim(ns, 'd', '1500m', of),
      used(ns),
      claim(ns, 'e', '1Gi'),
    ]),
    quotaCase('claims/attributes', ({ ns }) => [
      ...bound(
        ns,
        { persistentvolumeclaims: '1' },
        { persistentvolumeclaims: '0' },
        {
          scopeSelector: {
            matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] }],
          },
        },
        's',
      ),
      ...bound(ns, { 'count/persistentvolumeclaims': '9' }, { 'count/persistentvolumeclaims': '0' }),
      claim(ns, 'a', '1Gi'),
      claim(ns, 'b', '1Gi', { volumeAttributesClassName: 'fast' }),
      used(ns, 's'),
      claim(ns, 'c', '1Gi', { volumeAttributesClassName: 'fast' }),
      claim(ns, 'd', '1Gi', { volumeAttributesClassName: 'slow' }),
      used(ns, 's'),
      used(ns),
    ]),
  ];
}

function counts(): Case[] {
  const hard = {
    secrets: '1',
    'count/secrets': '5',
    replicationcontrollers: '1',
    resourcequotas: '2',
    'count/deployments.apps': '1',
    'count/leases.coordination.k8s.io': '0',
    'count/events': '0',
    'count/serviceaccounts': '1',
  };
  const none = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  const metadata = (name: string) => ({ metadata: { name } });
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
  const apps = (ns: string) => `/apis/apps/v1/namespaces/${ns}/deployments`;
  const deployment = (name: string) => ({
    ...metadata(name),
    spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template },
  });
  return [
    quotaCase('counts', ({ ns }) => [
      ...bound(ns, hard, none),
      post(core(ns, 'secrets'), metadata('a')),
      post(core(ns, 'secrets'), metadata('b')),
      used(ns),
      post(core(ns, 'secrets'), { metadata: { generateName: 'a-' } }),
      post(core(ns, 'replicationcontrollers'), {
        ...metadata('a'),
        spec: { selector: { a: 'b' }, template },
      }),
      post(core(ns, 'replicationcontrollers'), {
        ...metadata('b'),
        spec: { selector: { a: 'b' }, template },
      }),
      post(apps(ns), deployment('a')),
      post(apps(ns), deployment('b')),
      {
        method: 'PATCH',
        path: `${apps(ns)}/c?fieldManager=m`,
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment('c') },
      },
      post(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, metadata('a')),
      post(core(ns, 'serviceaccounts'), metadata('a')),
      post(core(ns, 'serviceaccounts'), metadata('b')),
      post(core(ns, 'configmaps'), metadata('a')),
      post(core(ns, 'limitranges'), metadata('a')),
      used(ns),
    ]),
    quotaCase('counts/quotas', ({ ns }) => [
      ...bound(ns, { resourcequotas: '1' }, { resourcequotas: '0' }),
      post(core(ns, 'resourcequotas'), metadata('a')),
      post(core(ns, 'resourcequotas'), metadata('b')),
      used(ns),
    ]),
    quotaCase('several', ({ ns }) => [
      ...bound(ns, { secrets: '5' }, { secrets: '1' }, {}, 'a'),
      ...bound(ns, { secrets: '2' }, { secrets: '1' }, {}, 'b'),
      post(core(ns, 'secrets'), metadata('a')),
      used(ns, 'a'),
      used(ns, 'b'),
      post(core(ns, 'secrets'), metadata('b')),
      used(ns, 'a'),
      get(core(ns, 'resourcequotas')),
    ]),
  ];
}
