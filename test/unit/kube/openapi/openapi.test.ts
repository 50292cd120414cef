import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { encodeSwagger } from '../../../../kube/openapi/gnostic.ts';
import { OpenApi, openapiV2, openapiV3Document } from '../../../../kube/openapi/openapi.ts';
import { Reader } from '../../../../kube/protobuf/reader.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../../../kube/schema/resource.ts';
import type { ObjectSchema } from '../../../../kube/schema/schema.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const widget: ResourceInfo = {
  group: 'example.org',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs,
  subresources: [
    {
      name: 'status',
      group: 'example.org',
      version: 'v1',
      kind: 'Widget',
      verbs: ['get', 'patch', 'update'],
    },
  ],
  storageVersion: 'v1',
};
const widgetSchema = {
  type: 'object',
  description: 'A widget',
  properties: { spec: { type: 'object', properties: { n: { type: 'integer', nullable: true } } } },
};

type Path = Record<string, JsonObject & { requestBody: { content: object }; parameters: { name: string }[] }>;
interface V3 {
  paths: Record<string, Path>;
  components: { schemas: Record<string, JsonObject & { properties: Record<string, JsonObject> }> };
}

const apps = openapiV3Document({ group: 'apps', version: 'v1' }, builtinResources) as unknown as V3;

/** Without what people read. */
function bare(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, v) => (key === 'description' && typeof v === 'string' ? undefined : v)),
  );
}

describe('OpenAPI 3', () => {
  it('publishes Deployment as Kubernetes does', () => {
    const { schemas } = apps.components;
    expect(bare(schemas['io.k8s.api.apps.v1.DeploymentSpec'])).toEqual({
      type: 'object',
      required: ['selector', 'template'],
      properties: {
        minReadySeconds: { type: 'integer', format: 'int32' },
        paused: { type: 'boolean' },
        progressDeadlineSeconds: { type: 'integer', format: 'int32' },
        replicas: { type: 'integer', format: 'int32' },
        revisionHistoryLimit: { type: 'integer', format: 'int32' },
        selector: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' }],
        },
        strategy: {
          default: {},
          allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
          'x-kubernetes-patch-strategy': 'retainKeys',
        },
        template: {
          default: {},
          allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }],
        },
      },
    });
    expect(schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Deployment' }],
    });
    expect(bare(schemas['io.k8s.api.core.v1.Container']?.properties['ports'])).toMatchObject({
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(bare(schemas['io.k8s.api.core.v1.ContainerPort']?.properties['protocol'])).toEqual({
      type: 'string',
      default: 'TCP',
      enum: ['SCTP', 'TCP', 'UDP'],
    });
  });

  it('tells kubectl how to patch and validate', () => {
    const patch = apps.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
    expect(Object.keys(patch?.requestBody.content ?? {})).toContain('application/strategic-merge-patch+json');
    expect(patch?.parameters.map((p) => p.name)).toContain('fieldValidation');
    expect(patch).toMatchObject({
      operationId: 'patchAppsV1NamespacedDeployment',
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
    });
    const scale = apps.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale']?.['put'];
    expect(scale).toMatchObject({
      'x-kubernetes-group-version-kind': { group: 'autoscaling', kind: 'Scale' },
    });
  });

  it('defines everything that it refers to', () => {
    const text = JSON.stringify(apps);
    const known = new Set(Object.keys(apps.components.schemas));
    const refs = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((m) => m[1] ?? '');
    expect(refs.length).toBeGreaterThan(500);
    expect(refs.filter((name) => !known.has(name))).toEqual([]);
  });

  it('describes fields as Kubernetes does, with what an enum may be', () => {
    const pod = apps.components.schemas['io.k8s.api.apps.v1.DeploymentSpec'];
    expect(pod?.properties['replicas']?.['description']).toContain('Number of desired pods');
    const port = apps.components.schemas['io.k8s.api.core.v1.ContainerPort'];
    expect(port?.properties['protocol']?.['description']).toContain('Possible enum values:\n - `"SCTP"`');
  });

  it('describes nearly every type and field that is served', () => {
    const versions = new Map(builtinResources.map((r) => [`${r.group}/${r.version}`, r]));
    const described = [...versions.values()].flatMap((gv) => {
      const { schemas } = (openapiV3Document(gv, builtinResources) as unknown as V3).components;
      return Object.values(schemas).flatMap((schema) => [schema, ...Object.values(schema.properties ?? {})]);
    });
    const without = described.filter(({ description }) => typeof description !== 'string');
    expect(described.length).toBeGreaterThan(2500);
    // Some have no words in Kubernetes either.
    expect(without.length / described.length).toBeLessThan(0.02);
  });

  it('adds kinds of CRDs and of ours', () => {
    const gv = { group: 'example.org', version: 'v1' };
    const mine = openapiV3Document(gv, [widget], () => ({ schema: widgetSchema })) as unknown as V3;
    expect(mine.components.schemas['org.example.v1.Widget']).toMatchObject({
      description: 'A widget',
      properties: {
        apiVersion: { type: 'string' },
        metadata: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
        },
        spec: { properties: { n: { type: 'integer', nullable: true } } },
      },
      'x-kubernetes-group-version-kind': [{ group: 'example.org', version: 'v1', kind: 'Widget' }],
    });
    const item = mine.paths['/apis/example.org/v1/namespaces/{namespace}/widgets/{name}'];
    expect(Object.keys(item?.['patch']?.requestBody.content ?? {})).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    const items: ObjectSchema = {
      type: 'object',
      fields: new Map([['name', { name: 'name', schema: { type: 'string' }, required: true }]]),
    };
    const spec = { type: 'list', items, listType: 'map', listMapKeys: ['name'] } as const;
    const schema: ObjectSchema = {
      type: 'object',
      fields: new Map([['spec', { name: 'spec', schema: spec }]]),
    };
    const typed = openapiV3Document(gv, [widget], () => ({ schema })) as unknown as V3;
    expect(typed.components.schemas['org.example.v1.Widget']?.properties['spec']).toEqual({
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    });
  });
});

describe('OpenAPI 2', () => {
  const v2 = openapiV2([widget, ...builtinResources], (gvk) =>
    gvk.group === 'example.org' ? { schema: widgetSchema } : undefined,
  ) as unknown as { definitions: Record<string, JsonObject>; paths: Record<string, JsonObject> };

  it('carries no defaults, one type a schema, and extensions beside $ref', () => {
    expect(bare(v2.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'])).toEqual({
      type: 'string',
      format: 'int-or-string',
    });
    const spec = v2.definitions['io.k8s.api.apps.v1.DeploymentSpec'] as {
      properties: Record<string, JsonObject>;
    };
    expect(bare(spec.properties['strategy'])).toEqual({
      $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    expect(JSON.stringify(v2.definitions)).not.toContain('"default":{}');
  });

  it('leaves open what OpenAPI 2 cannot say of a CRD', () => {
    const custom = v2.definitions['org.example.v1.Widget'];
    expect(custom).toMatchObject({ properties: { spec: { properties: { n: {} } } } });
    expect(JSON.stringify(custom)).not.toContain('nullable');
    expect(custom).toMatchObject({
      properties: { metadata: { description: expect.stringContaining("Standard object's metadata") } },
    });
  });

  it('says nothing of a CRD that takes whatever it is given', () => {
    const open = { type: 'object', description: 'Any', 'x-kubernetes-preserve-unknown-fields': true };
    const { definitions } = openapiV2([widget], () => ({ schema: open })) as unknown as typeof v2;
    expect(definitions['org.example.v1.Widget']).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'example.org', version: 'v1', kind: 'Widget' }],
    });
  });

  it('keeps each kind in one definition', () => {
    const kinds = Object.values(v2.definitions).flatMap(
      (d) => (d['x-kubernetes-group-version-kind'] ?? []) as JsonObject[],
    );
    const names = kinds.map((k) => JSON.stringify([k['group'], k['version'], k['kind']]));
    expect(new Set(names).size).toBe(names.length);
  });
});

/** The strings below a path of field numbers, first of each level except the last. */
function read(bytes: Uint8Array, ...path: number[]): string[] {
  const found: string[] = [];
  const reader = new Reader(bytes);
  while (!reader.done) {
    const key = reader.key();
    if (Math.floor(key / 8) !== path[0]) reader.skip(key & 7);
    else if (path.length === 1) found.push(reader.string());
    else found.push(...read(reader.bytes(), ...path.slice(1)));
  }
  return found;
}

describe('gnostic', () => {
  it('writes the field numbers of openapiv2.Document', () => {
    const bytes = encodeSwagger({
      swagger: '2.0',
      info: { title: 't', version: 'v' },
      definitions: { A: { type: 'object', properties: { b: { $ref: '#/definitions/B' } }, 'x-k': [1] } },
      paths: {
        '/p': { get: { operationId: 'o', parameters: [{ name: 'n', in: 'query', type: 'string' }] } },
      },
    });
    expect(read(bytes, 1)).toEqual(['2.0']);
    expect(read(bytes, 2, 1)).toEqual(['t']);
    expect(read(bytes, 9, 1, 1)).toEqual(['A']);
    expect(read(bytes, 9, 1, 2, 22, 1)).toEqual(['object']);
    expect(read(bytes, 9, 1, 2, 25, 1, 2, 1)).toEqual(['#/definitions/B']);
    expect(read(bytes, 9, 1, 2, 31, 2, 2)).toEqual(['[1]\n']);
    expect(read(bytes, 8, 2, 2, 2, 5)).toEqual(['o']);
    expect(read(bytes, 8, 2, 2, 2, 8, 1, 2, 3, 4)).toEqual(['n']);
  });
});

describe('OpenApi', () => {
  const schemaFor = (gvk: { group: string }) =>
    gvk.group === 'example.org' ? { schema: widgetSchema } : undefined;
  const api = new OpenApi([...builtinResources, widget], schemaFor);

  it('hashes bytes and keeps documents', () => {
    const index = JSON.parse(Buffer.from(api.index().bytes).toString()) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const document = api.v3('apis/apps/v1');
    expect(document?.hash).toMatch(/^[0-9A-F]{128}$/);
    expect(index.paths['apis/apps/v1']?.serverRelativeURL).toBe(
      `/openapi/v3/apis/apps/v1?hash=${document?.hash}`,
    );
    expect(index.paths).toHaveProperty('api/v1');
    expect(index.paths).toHaveProperty('apis/example.org/v1');
    expect(new OpenApi(builtinResources).v3('apis/apps/v1')).toBe(document);
    expect(api.v3('apis/none/v1')).toBeUndefined();
  });

  it('joins the built-in and the custom part of OpenAPI 2 in protobuf', () => {
    const paths = read(api.v2Protobuf().bytes, 8, 2, 1);
    const definitions = read(api.v2Protobuf().bytes, 9, 1, 1);
    expect(paths).toContain('/apis/example.org/v1/namespaces/{namespace}/widgets/{name}/status');
    expect(paths).toContain('/api/v1/pods');
    expect(definitions).toContain('org.example.v1.Widget');
    expect(new Set(definitions).size).toBe(definitions.length);
  });
});
