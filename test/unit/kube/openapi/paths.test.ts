import { describe, expect, it } from 'vitest';
import { OpenApi, openapiV2, openapiV3Document } from '../../../../kube/openapi/openapi.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../../../kube/schema/resource.ts';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  consumes?: string[];
  produces?: string[];
  responses: Record<string, { schema?: { $ref?: string; type?: string } }>;
  requestBody?: { content: object };
  'x-kubernetes-action'?: string;
}
type Paths = Record<string, Record<string, Operation>>;

const two = openapiV2(builtinResources) as unknown as {
  paths: Paths;
  definitions: Record<string, { 'x-kubernetes-group-version-kind': { group: string; version: string }[] }>;
};
const widget: ResourceInfo = {
  group: 'example.org',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [
    { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
  ],
  storageVersion: 'v1',
};

type Parameters = NonNullable<Operation['parameters']>;

function sharedOf(path: string): Parameters {
  return (two.paths[path]?.['parameters'] ?? []) as Parameters;
}

/** Names of the query parameters, whichever level says them. */
function queriesOf(path: string, method: string): string[] {
  const all = [...sharedOf(path), ...(two.paths[path]?.[method]?.parameters ?? [])];
  return all.flatMap((p) => (p.in === 'query' ? [p.name] : []));
}

describe('paths of OpenAPI documents', () => {
  const pods = '/api/v1/namespaces/{namespace}/pods';
  it.each([
    ['/api/v1/watch/pods', 'watchCoreV1PodListForAllNamespaces', 'watchlist'],
    ['/api/v1/watch/namespaces/{namespace}/pods', 'watchCoreV1NamespacedPodList', 'watchlist'],
    ['/api/v1/watch/namespaces/{namespace}/pods/{name}', 'watchCoreV1NamespacedPod', 'watch'],
    ['/api/v1/watch/namespaces', 'watchCoreV1NamespaceList', 'watchlist'],
    ['/api/v1/watch/namespaces/{name}', 'watchCoreV1Namespace', 'watch'],
    [`${pods}/{name}/proxy/{path}`, 'connectCoreV1GetNamespacedPodProxyWithPath', 'connect'],
    ['/api/v1/nodes/{name}/proxy', 'connectCoreV1GetNodeProxy', 'connect'],
    ['/apis/apps/', 'getAppsAPIGroup', undefined],
    ['/apis/flowcontrol.apiserver.k8s.io/', 'getFlowcontrolApiserverAPIGroup', undefined],
    ['/apis/', 'getAPIVersions', undefined],
    ['/api/', 'getCoreAPIVersions', undefined],
    ['/version/', 'getCodeVersion', undefined],
    ['/openid/v1/jwks/', 'getServiceAccountIssuerOpenIDKeyset', undefined],
  ])('%s is %s', (path, id, action) => {
    const { get } = two.paths[path] ?? {};
    expect(get?.operationId).toBe(id);
    expect(get?.['x-kubernetes-action']).toBe(action);
  });

  it.each([
    [`${pods}/{name}/exec`, 'post', ['command', 'container', 'stderr', 'stdin', 'stdout', 'tty']],
    [`${pods}/{name}/attach`, 'get', ['container', 'stderr', 'stdin', 'stdout', 'tty']],
    [`${pods}/{name}/portforward`, 'get', ['ports']],
    [`${pods}/{name}/proxy`, 'options', ['path']],
    ['/api/v1/namespaces/{namespace}/services/{name}/proxy/{path}', 'head', ['path']],
  ])('%s %s takes %s', (path, method, names) => {
    expect(queriesOf(path, method)).toEqual(names);
  });

  it('says once what all operations of a path take, and nothing of none', () => {
    const names = (parameters: Parameters = []) => parameters.map(({ name }) => name);
    const one = two.paths[`${pods}/{name}`];
    expect(names(sharedOf(`${pods}/{name}`))).toEqual(['name', 'namespace', 'pretty']);
    expect(one?.['get']).not.toHaveProperty('parameters');
    expect(names(one?.['patch']?.parameters)).toEqual([
      'body',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ]);
    expect(JSON.stringify(two.paths)).not.toContain('"parameters":[]');
  });

  it('takes and gives what each kind of operation does', () => {
    expect(two.paths[`${pods}/{name}/proxy`]?.['patch']?.consumes).toEqual(['*/*']);
    expect(two.paths[`${pods}/{name}/log`]?.['get']?.produces?.[0]).toBe('text/plain');
    expect(two.paths['/api/v1/watch/pods']?.['get']?.produces).toContain('application/json;stream=watch');
    const answers = (path: string) => two.paths[path]?.['delete']?.responses['200']?.schema?.$ref;
    expect(answers('/api/v1/namespaces/{name}')).toMatch(/v1\.Status$/);
    expect(answers(`${pods}/{name}`)).toMatch(/v1\.Pod$/);
  });

  it('says of shared kinds that they are of every version, served or not', () => {
    const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
    const of = two.definitions[name]?.['x-kubernetes-group-version-kind'].map(
      (k) => `${k.group}/${k.version}`,
    );
    expect(of).toHaveLength(60);
    expect(of).toEqual([...(of ?? [])].sort());
    expect(of).toContain('extensions/v1beta1');
  });

  it('gives what names no resource a document of its own, for built-in groups', () => {
    const documents = new OpenApi([...builtinResources, widget], ({ group }) =>
      group === 'example.org' ? { schema: { type: 'object' } } : undefined,
    );
    const index = JSON.parse(Buffer.from(documents.index().bytes).toString()) as { paths: object };
    expect(Object.keys(index.paths)).toEqual(
      expect.arrayContaining([
        'api',
        'apis',
        'apis/apps',
        'version',
        'openid/v1/jwks',
        'apis/example.org/v1',
      ]),
    );
    expect(Object.keys(index.paths)).not.toContain('apis/example.org');
    const version = JSON.parse(Buffer.from(documents.v3('version')?.bytes ?? []).toString());
    expect(Object.keys(version.paths)).toEqual(['/version/']);
    expect(Object.keys(version.components.schemas)).toEqual(['io.k8s.apimachinery.pkg.version.Info']);
    expect(documents.v3('apis/none')).toBeUndefined();
  });

  it('publishes custom resources as the server of definitions does', () => {
    const gv = { group: 'example.org', version: 'v1' };
    const document = openapiV3Document(gv, [widget], () => ({ schema: { type: 'object' } })) as unknown as {
      paths: Paths;
      info: object;
      components: object;
    };
    expect(document.info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
    expect(Object.keys(document.components)).toEqual(['schemas']);
    expect(Object.keys(document.paths).filter((path) => /watch|v1\/$/.test(path))).toEqual([]);
    const collection = document.paths['/apis/example.org/v1/namespaces/{namespace}/widgets'];
    expect(collection?.['delete']?.parameters?.map(({ name }) => name)).toContain('watch');
    expect(collection?.['delete']?.requestBody).toBeUndefined();
    expect(Object.keys(collection?.['post']?.requestBody?.content ?? {})).toEqual([
      'application/json',
      'application/yaml',
    ]);
    const scale = document.paths['/apis/example.org/v1/namespaces/{namespace}/widgets/{name}/scale'];
    expect(scale?.['patch']).toMatchObject({ 'x-kubernetes-group-version-kind': { ...gv, kind: 'Widget' } });
    expect(Object.keys(scale?.['patch']?.responses ?? {})).toEqual(['200', '401']);
  });
});
