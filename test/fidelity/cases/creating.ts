import type { Case, Names, Request } from '../case.ts';
import { as, bind, known, role, rule, silent, user } from './roles.ts';

const apply = 'application/apply-patch+yaml';
const change = ['get', 'update', 'patch', 'delete'];

/** What takes the verb `create`, whatever method asks for it. */
export function creatingCases(): Case[] {
  const holders: [string, string[], object?][] = [
    ['without', change],
    ['with', [...change, 'create']],
    ['named', [...change, 'create'], { resourceNames: ['one'] }],
    ['only', ['create']],
  ];
  return holders.flatMap(([id, verbs, more]) =>
    [['writes', writes] as const, ['streams', streams] as const].map(([what, requests]) => ({
      id: `rbac/creating/${what}/${id}`,
      area: 'rbac' as const,
      ownNamespace: true,
      steps: (names: Names) => [
        ...given(names, verbs, more),
        ...requests(names).map((request) => as(names.name, request)),
      ],
    })),
  );
}

function given({ ns, name }: Names, verbs: string[], more: object = {}): Request[] {
  const waits = rule([''], ['services'], ['list']);
  const groups = ['', 'apps', 'coordination.k8s.io', 'policy', 'certificates.k8s.io'];
  const pod = {
    method: 'POST',
    path: `/api/v1/namespaces/${ns}/pods`,
    body: { metadata: { name: 'one' }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  };
  return [
    pod,
    role(ns, 'some', rule(groups, ['*'], verbs, more), waits),
    bind(ns, 'some', ['Role', 'some'], user(name)),
  ]
    .map(silent)
    .concat(known(name, `/api/v1/namespaces/${ns}/services`));
}

function writes({ ns }: Names): Request[] {
  const kinds: [string, string, string, object][] = [
    ['/api/v1', 'configmaps', 'ConfigMap', { data: { a: 'b' } }],
    ['/api/v1', 'secrets', 'Secret', { type: 1 }],
    ['/api/v1', 'services', 'Service', { spec: { type: 'Nothing' } }],
    ['/apis/coordination.k8s.io/v1', 'leases', 'Lease', { spec: { holderIdentity: 'a' } }],
    ['/apis/coordination.k8s.io/v1', 'leases', 'Lease', { spec: { leaseDurationSeconds: -1 } }],
    ['/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', { spec: { maxUnavailable: 1 } }],
  ];
  return kinds.flatMap(([base, resource, kind, said], i) =>
    ['one', 'two'].flatMap((plain) => {
      const name = i === 4 ? `${plain}-bad` : plain;
      const path = `${base}/namespaces/${ns}/${resource}/${name}`;
      const apiVersion = base.replace(/^\/apis?\//, '');
      const body = { apiVersion, kind, metadata: { name }, ...said };
      const patch = (query: string, contentType = apply): Request => ({
        method: 'PATCH',
        path: `${path}${query}`,
        contentType,
        body,
      });
      return [
        { method: 'PUT', path: `${path}?dryRun=All`, body },
        patch('?fieldManager=m&dryRun=All'),
        ...(resource === 'services' ? [] : [patch('/status?fieldManager=m')]),
        patch('', 'application/merge-patch+json'),
        { method: 'PUT', path, body: { ...body, metadata: { name, uid: 'x' } } },
        patch('?fieldManager=m'),
        { method: 'PUT', path, body },
        { method: 'DELETE', path },
        { method: 'PUT', path, body },
      ];
    }),
  );
}

function streams({ ns }: Names): Request[] {
  const connects = [
    'exec?command=ls',
    'attach',
    'portforward?ports=80',
    'portforward?ports=x',
    'proxy',
    'proxy/x',
  ];
  return ['one', 'two'].flatMap((name) =>
    connects.flatMap((what) =>
      ['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({
        method,
        path: `/api/v1/namespaces/${ns}/pods/${name}/${what}`,
      })),
    ),
  );
}
