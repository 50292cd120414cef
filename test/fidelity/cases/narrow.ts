import type { Case, Request } from '../case.ts';
import { as, bind, known, role, rule, silent, user } from './roles.ts';

/** Every way to ask for one object beside `get`, by those who may see all, one by its name, or none. */
const paths = [
  '/api/v1/namespaces/NS/secrets?watch=1',
  '/api/v1/watch/namespaces/NS/secrets?',
  '/api/v1/watch/namespaces/NS/secrets/one?',
  '/api/v1/watch/namespaces/NS/secrets/two?',
  '/api/v1/watch/namespaces/NS?',
  '/api/v1/watch/namespaces/default?',
];

const selectors = [
  '',
  'metadata.name=one',
  'metadata.name=two',
  'metadata.name==one',
  'metadata.name!=one',
  'metadata.name=one,metadata.name=two',
  'metadata.name=one,metadata.namespace=NS',
  'metadata.namespace=NS',
  'metadata.name=',
  'metadata.name=NS',
  'metadata.nothing=one',
  'type=Opaque',
  'metadata.name=one,type=Opaque',
  'metadata.name=one,type=other',
  '=',
  ',',
  'a',
];

const others: Request[] = [
  { method: 'GET', path: '/api/v1/nodes?fieldSelector=metadata.namespace%3Dx' },
  { method: 'GET', path: '/api/v1/namespaces?fieldSelector=metadata.namespace%3Dx' },
  {
    method: 'GET',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.namespace%3Dx',
  },
  { method: 'GET', path: '/apis/resource.k8s.io/v1/resourceslices?fieldSelector=metadata.namespace%3Dx' },
  {
    method: 'GET',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles?fieldSelector=metadata.namespace%3Dx',
  },
  { method: 'GET', path: '/api/v1/watch/namespaces/NS/pods/one/log' },
  { method: 'GET', path: '/api/v1/watch/namespaces/NS/status' },
  { method: 'GET', path: '/api/v1/watch/secrets/one' },
  { method: 'POST', path: '/api/v1/watch/namespaces/NS/secrets', body: {} },
  { method: 'PUT', path: '/api/v1/watch/namespaces/NS/secrets/one', body: {} },
  { method: 'DELETE', path: '/api/v1/watch/namespaces/NS/secrets/one' },
  { method: 'DELETE', path: '/api/v1/watch/namespaces/NS/secrets' },
];

/** What is asked by a name in the path, or in the selector, or in both. */
export function narrowCases(): Case[] {
  const everybody = ['admin', 'named', 'nobody'] as const;
  const cases: [string, readonly Request[]][] = [
    ...paths.map((path, i): [string, Request[]] => [
      `path-${i}`,
      selectors.map((text) => ({
        method: 'GET',
        path: `${path}&timeoutSeconds=1&fieldSelector=${encodeURIComponent(text)}`.replace('?&', '?'),
        watch: true,
      })),
    ]),
    [
      'lists',
      selectors.flatMap((text) =>
        ['secrets', 'secrets/one'].map((what) => ({
          method: 'GET',
          path: `/api/v1/namespaces/NS/${what}?fieldSelector=${encodeURIComponent(text)}`,
        })),
      ),
    ],
    [
      'collections',
      ['metadata.name=one', ''].map((text) => ({
        method: 'DELETE',
        path: `/api/v1/namespaces/NS/secrets?dryRun=All&fieldSelector=${encodeURIComponent(text)}`,
      })),
    ],
    ['others', others],
  ];
  return cases.flatMap(([id, requests]) =>
    everybody.map((who) => ({
      id: `rbac/narrow/${id}/${who}`,
      area: 'rbac' as const,
      ownNamespace: true,
      steps: ({ ns, name }) => {
        const here = requests.map((request) => ({ ...request, path: request.path.replaceAll('NS', ns) }));
        return [
          ...given(ns, name),
          ...(who === 'admin'
            ? here
            : here.map((request) => as(who === 'named' ? name : `no-${name}`, request))),
        ];
      },
    })),
  );
}

function given(ns: string, name: string): Request[] {
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  const verbs = ['get', 'list', 'watch', 'deletecollection'];
  return [
    ...['one', 'two'].map((one) => ({
      method: 'POST',
      path: secrets,
      body: { metadata: { name: one }, type: 'Opaque' },
    })),
    role(ns, 'one', rule([''], ['secrets', 'pods', 'pods/log'], verbs, { resourceNames: ['one'] })),
    bind(ns, 'one', ['Role', 'one'], user(name)),
  ]
    .map(silent)
    .concat(known(name, `${secrets}/one`));
}
