import { builtinResources } from '../../../kube/schema/builtin.ts';
import type { Case } from '../case.ts';
import { fixtureOf } from '../fixtures.ts';
import { get } from './reading.ts';

const groups = [...new Set(builtinResources.map(({ group }) => group))].filter((group) => group !== '');
const versions = [
  ...new Set(
    builtinResources.map(({ group, version }) =>
      group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ),
  ),
];

/** An APIService whose server is not there. */
const apiService: Case = {
  id: 'discovery/apiservice',
  area: 'discovery',
  steps: ({ name }) => {
    const group = `${name}.example.com`;
    const collection = '/apis/apiregistration.k8s.io/v1/apiservices';
    const object = fixtureOf('apiservices', 'apiregistration.k8s.io').object({ name, ns: '' });
    return [
      { method: 'POST', path: collection, body: object, silent: true },
      get('/apis'),
      get(`/apis/${group}`),
      get(`/apis/${group}/v1`),
      { method: 'DELETE', path: `${collection}/v1.${group}`, silent: true },
    ];
  },
};

/** Groups, versions and resources that nobody knows. */
const unserved = [
  '/apis/none.example.com/v1/things',
  '/apis/none.example.com/v1/namespaces/default/things',
  '/apis/apps/v9/deployments',
  '/apis/apps/v1/things',
  '/apis/apps/v1/namespaces/default/things',
  '/api/v1/things',
  '/api/v9/pods',
];

/** Slashes and dots where no name is. */
const slashes = [
  '//',
  '//api',
  '//api/v1/namespaces',
  '//apis/apps',
  '//healthz',
  '/healthz/',
  '/healthz//',
  '/livez/ping/',
  '/livez/ping/x',
  '/metrics/',
  '/version/',
  '/version//',
  '/api//',
  '/api//v1',
  '/api/v1//',
  '/apis/',
  '/apis//',
  '/apis//apps',
  '/apis/apps//',
  '/apis//apps/v1/deployments',
  '/apis/apps/v1//',
  '/apis/apps//v1',
  '/api/v1//namespaces',
  '/api//v1/namespaces',
  '/api/v1/namespaces/default/',
  '/api/v1/namespaces//configmaps/a',
  '/apis/apps/v1/namespaces//deployments/a/scale',
  '/api/v1/namespaces//configmaps/a/none',
  '/openapi/v2/',
  '/openapi/v3/',
  '/openapi/v3//',
  '/openapi/v3/api/v1/',
  '/openid/v1/jwks/',
  '/..',
  '/.',
  '/./healthz',
  '/apis/.',
  '/apis/./apps',
  '/apis/../apps/v1/deployments',
  '/apis/apps/..',
  '/apis/apps/v1/..',
  '/apis/apps/../v1',
  '/api/v1/namespaces/..',
  '/api/.',
  '/%2e/api',
  '/api/v1/namespaces/default//',
  '/api/v1/namespaces///',
  '/api/v1/namespaces/default/configmaps//',
  '/api/v1/namespaces/default/configmaps/a//x',
  '/api/v1/namespaces/default/configmaps/a/..',
  '/api/v1/namespaces/default/configmaps/%2e%2e',
  '/api/v1/namespaces/default/pods/a/log/x',
  '/api/v1/namespaces/default/pods/a/status/x',
  '/api/v1/namespaces/default/pods/../status',
  '/api/v1/namespaces/default/pods/../none',
  '/api/v1/namespaces/default/none/..',
  '/api/v1/namespaces/../status',
  '/api/v1/namespaces//nodes',
  '/api/v1/namespaces//nodes/a',
  '/api/v1/pods/..',
  '/apis/apps/v1/namespaces/default/deployments/a/scale/x',
];

export function discoveryCases(): Case[] {
  const aggregated = (version: string) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  const accepts = [
    'application/json',
    '*/*',
    aggregated('v2'),
    aggregated('v2beta1'),
    `${aggregated('v2')},${aggregated('v2beta1')},application/json`,
    `${aggregated('v3')},application/json`,
    aggregated('v3'),
    `${aggregated('v2')};profile=nopeer,application/json`,
    `${aggregated('v2')};profile=x`,
    'application/vnd.kubernetes.protobuf',
    'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    'application/yaml',
    'application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    'text/plain',
    'application/cbor',
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    '',
  ];
  const plain = [
    '/api',
    '/apis',
    ...groups.map((group) => `/apis/${group}`),
    ...versions,
    '/version',
    '/openapi/v3',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/healthz',
    '/livez?verbose',
    '/readyz?verbose',
    '/healthz?verbose',
    '/livez/ping',
    '/readyz?exclude=ping',
  ];
  return [
    apiService,
    ...plain.map((path): Case => ({ id: `discovery${path}`, area: 'discovery', steps: () => [get(path)] })),
    ...[
      '/api',
      '/apis',
      '/apis/apps',
      '/api/v1',
      '/apis/apps/v1',
      '/version',
      '/openapi/v3',
      '/openapi/v2',
    ].flatMap((path) =>
      accepts.map(
        (accept, i): Case => ({
          id: `discovery/accept${path}/${i}`,
          area: 'discovery',
          steps: () => [
            get(path, accept),
            { method: 'GET', path, accept, headers: { 'accept-encoding': 'gzip' } },
          ],
        }),
      ),
    ),
    ...['/api', '/apis', '/openapi/v3', '/openapi/v2'].map(
      (path): Case => ({
        id: `discovery/etag${path}`,
        area: 'discovery',
        steps: () => [
          get(path, aggregated('v2')),
          (seen) => ({
            method: 'GET',
            path,
            accept: aggregated('v2'),
            headers: { 'if-none-match': String(seen[0]?.headers['etag'] ?? '""') },
          }),
          { method: 'GET', path, accept: '*/*', headers: { 'if-none-match': '"x"' } },
        ],
      }),
    ),
    ...slashes.map(
      (path, i): Case => ({ id: `discovery/slashes/${i}`, area: 'discovery', steps: () => [get(path)] }),
    ),
    ...unserved.map(
      (path): Case => ({
        id: `discovery/unserved${path}`,
        area: 'discovery',
        steps: () => [get(path), { method: 'POST', path, body: {} }, { method: 'DELETE', path: `${path}/a` }],
      }),
    ),
    ...['api/v1', ...versions.slice(1).map((path) => path.slice(1))].map(
      (path): Case => ({
        id: `discovery/openapi/v3/${path}`,
        area: 'discovery',
        steps: () => [get(`/openapi/v3/${path}`)],
      }),
    ),
    ...[
      'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
      'application/json',
      '*/*',
      'application/yaml',
      'text/plain',
    ].map(
      (accept, i): Case => ({
        id: `discovery/openapi/v3/accept/${i}`,
        area: 'discovery',
        steps: () => [get('/openapi/v3/apis/policy/v1', accept)],
      }),
    ),
    ...[
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      'application/com.github.googleapis.gnostic.OpenAPIv2@68f4ded+protobuf',
      'application/json',
      '*/*',
      'application/yaml',
      'text/plain',
      'application/octet-stream',
    ].map(
      (accept, i): Case => ({
        id: `discovery/openapi/v2/accept/${i}`,
        area: 'discovery',
        steps: () => [get('/openapi/v2', accept)],
      }),
    ),
  ];
}
