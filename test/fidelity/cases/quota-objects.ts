import type { Answer, Case, Request } from '../case.ts';
import { bound, core, dry, get, type PodParts, pod, post, quotaCase, silent, used } from './quotas.ts';

const merge = 'application/merge-patch+json';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** What a quota is itself, and the limits of a namespace. */
export function quotaObjectsCases(): Case[] {
  return [...objects(), ...defaults(), ...limits()];
}

function objects(): Case[] {
  const make = (ns: string, name: string, spec: object) =>
    post(core(ns, 'resourcequotas'), { metadata: { name }, spec });
  const one = (ns: string, name: string) => `${core(ns, 'resourcequotas')}/${name}`;
  const change = (path: string, body: object): Request => ({
    method: 'PATCH',
    path,
    contentType: merge,
    body,
  });
  const expression = (scopeName: string, operator: string, values?: string[]) => ({
    hard: { pods: '1' },
    scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] },
  });
  return [
    quotaCase('objects', ({ ns }) => [
      make(ns, 'a', { hard: { pods: '5', 'requests.cpu': '1500m', memory: '1024Mi', 'limits.cpu': '0.5' } }),
      change(`${one(ns, 'a')}/status`, {
        status: { hard: { pods: '5' }, used: { pods: '2', 'requests.cpu': '0.1' } },
      }),
      { ...get(core(ns, 'resourcequotas')), accept: table },
      change(`${one(ns, 'a')}/status`, { spec: { hard: { pods: '9' } }, status: { used: { pods: '3' } } }),
      change(one(ns, 'a'), { spec: { hard: { pods: '9' } }, status: { used: { pods: '4' } } }),
      change(one(ns, 'a'), { spec: { scopes: ['BestEffort'] } }),
      change(`${one(ns, 'a')}/status`, { status: { hard: { nothing: '1' }, used: { pods: '-1' } } }),
      change(`${one(ns, 'a')}/status`, { status: { hard: { pods: '1.5' }, used: { cpu: 'x' } } }),
      get(`${one(ns, 'a')}/status`),
      { method: 'DELETE', path: one(ns, 'a') },
    ]),
    quotaCase('objects/refused', ({ ns }) =>
      [
        { hard: { nothing: '1' } },
        { hard: { pods: '-1' } },
        { hard: { pods: '1.5' } },
        { hard: { 'count/x.example.com': '1', 'requests.example.com/gpu': '1' } },
        { hard: { 'gold.storageclass.storage.k8s.io/requests.storage': '1' } },
        { hard: { pods: '1' }, scopes: ['Nothing'] },
        { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
        { hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] },
        { hard: { cpu: '1' }, scopes: ['BestEffort'] },
        { hard: { services: '1' }, scopes: ['Terminating'] },
        expression('PriorityClass', 'In'),
        expression('PriorityClass', 'Exists', ['a']),
        expression('PriorityClass', 'Near', ['a']),
        expression('Terminating', 'In', ['a']),
        expression('Nothing', 'Exists'),
        expression('VolumeAttributesClass', 'Exists'),
      ].map((spec, i) => dry(make(ns, `q${i}`, spec))),
    ),
    quotaCase('objects/changed', ({ ns }) => [
      ...bound(ns, { secrets: '1' }, { secrets: '1' }),
      post(core(ns, 'secrets'), { metadata: { name: 'a' } }),
      change(one(ns, 'q'), { spec: { hard: { secrets: '3' } } }),
      // The controller has not spoken: what it bounds is as it was.
      post(core(ns, 'secrets'), { metadata: { name: 'a' } }),
      used(ns),
    ]),
  ];
}

const range = (ns: string, limits: object[]) =>
  silent(post(core(ns, 'limitranges'), { metadata: { name: 'l' }, spec: { limits } }));

/** As soon as kube-apiserver has heard of the limits. */
function known(request: Request): Request {
  const isKnown = ({ status, body }: Answer) => status === 403 || body.includes('limit-ranger');
  return { ...silent(dry(request)), until: isKnown };
}

function defaults(): Case[] {
  const limit = {
    type: 'Container',
    default: { cpu: '1', memory: '1Gi' },
    defaultRequest: { cpu: '100m', memory: '64Mi' },
  };
  return [
    quotaCase('limits/defaults', ({ ns }) => [
      range(ns, [limit]),
      known(pod(ns, 'x')),
      pod(ns, 'none'),
      pod(ns, 'some', { requests: { cpu: '50m' } }),
      pod(ns, 'more', { requests: { cpu: '2' } }),
      pod(ns, 'limits', { limits: { cpu: '2' } }),
      pod(ns, 'init', { init: [{}, { restartPolicy: 'Always' }] }),
      pod(ns, 'whole', { spec: { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } } }),
      pod(ns, 'all', { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } }),
      get(`${core(ns, 'limitranges')}/l`),
      get(`${core(ns, 'pods')}/none`),
    ]),
    quotaCase('limits/charged', ({ ns }) => [
      range(ns, [limit]),
      known(pod(ns, 'x')),
      ...bound(
        ns,
        { 'requests.cpu': '250m', 'limits.memory': '3Gi' },
        { 'requests.cpu': '0', 'limits.memory': '0' },
      ),
      pod(ns, 'a'),
      used(ns),
      pod(ns, 'b'),
      pod(ns, 'c'),
      used(ns),
    ]),
  ];
}

type Limit = [what: string, limit: object, refused: PodParts, others: PodParts[]];

const sidecar = { restartPolicy: 'Always', resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } };

function limits(): Case[] {
  const both = (cpu: string, limit = cpu): PodParts => ({ requests: { cpu }, limits: { cpu: limit } });
  const rows: Limit[] = [
    [
      'min',
      { type: 'Container', min: { cpu: '100m' }, max: { cpu: '9' } },
      both('50m'),
      [{}, both('50m', '1'), both('100m')],
    ],
    [
      'max',
      { type: 'Container', max: { cpu: '1' } },
      both('2'),
      [{}, { requests: { cpu: '1' } }, both('500m', '2'), both('1')],
    ],
    [
      'ratio',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      both('1', '3'),
      [{}, { requests: { cpu: '1' } }, both('300m', '1'), both('1', '2'), both('0', '2')],
    ],
    [
      'pod-max',
      { type: 'Pod', max: { cpu: '2' } },
      both('3'),
      [
        {},
        { ...both('1'), init: [sidecar] },
        { ...both('1500m'), init: [sidecar] },
        { ...both('1'), init: [{ resources: { requests: { cpu: '3' }, limits: { cpu: '3' } } }] },
        { ...both('1'), spec: { resources: { limits: { cpu: '3' } } } },
        { ...both('1'), spec: { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } } },
      ],
    ],
    [
      'pod-min',
      { type: 'Pod', min: { memory: '10Mi' } },
      { requests: { memory: '1Mi' } },
      [
        {},
        { requests: { memory: '10Mi' } },
        { requests: { memory: '5Mi' }, init: [{ resources: { requests: { memory: '20Mi' } } }] },
      ],
    ],
    [
      'pod-ratio',
      { type: 'Pod', maxLimitRequestRatio: { cpu: '1.5' } },
      both('1', '2'),
      [both('1', '1500m'), both('2', '3')],
    ],
  ];
  const claim = (ns: string, storage: string) =>
    post(core(ns, 'persistentvolumeclaims'), {
      metadata: { generateName: 'c-' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
  return [
    ...rows.map(([what, limit, refused, others]) =>
      quotaCase(`limits/${what}`, ({ ns }) => [
        range(ns, [limit]),
        known(pod(ns, 'x', refused)),
        pod(ns, 'x', refused),
        ...others.map((parts, i) => pod(ns, `x${i}`, parts)),
      ]),
    ),
    quotaCase('limits/claims', ({ ns }) => [
      range(ns, [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '3Gi' } }]),
      known(claim(ns, '9Gi')),
      dry(claim(ns, '1Mi')),
      dry(claim(ns, '4Gi')),
      dry(claim(ns, '2Gi')),
    ]),
    quotaCase('limits/resize', ({ ns }) => {
      const resize = (cpu: string): Request => ({
        method: 'PATCH',
        path: `${core(ns, 'pods')}/one/resize`,
        contentType: 'application/strategic-merge-patch+json',
        body: { spec: { containers: [{ name: 'c', resources: { requests: { cpu }, limits: { cpu } } }] } },
      });
      return [
        range(ns, [{ type: 'Container', max: { cpu: '2' } }]),
        known(pod(ns, 'x', both('3'))),
        pod(ns, 'one', both('1')),
        resize('2'),
        resize('3'),
      ];
    }),
  ];
}
