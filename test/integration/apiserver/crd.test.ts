import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  color: { type: 'string', default: 'red' },
                },
              },
              status: { type: 'object', properties: { size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

const widget = (spec: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
});

test('of a count that is written as a float it is told after what strict decoding finds', async () => {
  await api.call('POST', crds, definition);
  const body =
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":5.0,"a":1}}';
  const sent = (validation: string) => api.call('POST', `${widgets}?fieldValidation=${validation}`, body);
  const [strict, warned] = [await sent('Strict'), await sent('Warn')];
  expect([strict.status, strict.body.message]).toEqual([
    400,
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.a"',
  ]);
  await api.call('POST', widgets, widget({ size: 1 }));
  const patch = '{"spec":{"size":5.0,"a":1}}';
  const patched = await api.call('PATCH', `${widgets}/w?fieldValidation=Strict`, patch);
  expect(patched.body.message).toContain('strict decoding error: unknown field "spec.a"');
  const { body: float } = await api.call('PATCH', `${widgets}/w`, '{"spec":{"size":5.0}}');
  expect(float.message).toContain('accessor error: 5 is of the type float64, expected int64');
  expect([warned.status, String(warned.headers['warning'])]).toEqual([
    422,
    '299 - "unknown field \\"spec.a\\""',
  ]);
});

test('a definition serves its kind at once, and takes it away', async () => {
  expect((await api.call('GET', widgets)).status).toBe(404);
  const { body } = await api.call('POST', crds, definition);
  expect(body.status).toEqual({
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1'],
  });
  const { body: now } = await api.call('GET', `${crds}/widgets.example.com`);
  expect(now.status).toMatchObject({ acceptedNames: { singular: 'widget' }, storedVersions: ['v1'] });
  expect(now.status.conditions.map((c: { type: string; status: string }) => [c.type, c.status])).toEqual([
    ['NamesAccepted', 'True'],
    ['Established', 'True'],
  ]);
  const owner = { manager: 'kube-apiserver', operation: 'Update', subresource: 'status' };
  expect(now.metadata.managedFields).toContainEqual(expect.objectContaining(owner));
  const discovery = await api.call('GET', '/apis/example.com/v1');
  expect(discovery.body.resources.map((r: { name: string }) => r.name)).toEqual([
    'widgets',
    'widgets/scale',
    'widgets/status',
  ]);
  expect((await api.call('GET', '/openapi/v3')).body.paths).toHaveProperty(['apis/example.com/v1']);
  const made = await api.call('POST', widgets, widget({ size: 3 }));
  expect(made.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3, color: 'red' } });
  // It goes when a controller has seen its objects go.
  const gone = await api.call('DELETE', `${crds}/widgets.example.com`);
  expect(gone.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  expect(gone.body.status.conditions.at(-1)).toMatchObject({ type: 'Terminating', status: 'True' });
  const last = await api.call('GET', '/apis/example.com/v1');
  expect(last.body.resources[0]).toMatchObject({
    name: 'widgets',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'],
  });
  await api.call('DELETE', `${widgets}/w`);
  await release(api);
  expect((await api.call('GET', widgets)).status).toBe(404);
  await api.call('POST', crds, definition);
  expect((await api.call('GET', widgets)).body.items).toEqual([]);
});

async function release({ call }: Api): Promise<void> {
  const { body } = await call('GET', `${crds}/widgets.example.com`);
  body.metadata.finalizers = [];
  await call('PUT', `${crds}/widgets.example.com`, body);
}

test('its schema is kept', async () => {
  await api.call('POST', crds, definition);
  const refused = await api.call('POST', widgets, widget({ size: 'x' }));
  expect(refused.body).toMatchObject({ code: 422, reason: 'Invalid' });
  expect(refused.body.message).toContain('spec.size in body must be of type integer: "string"');
  expect((await api.call('POST', widgets, widget({}))).body.message).toContain('spec.size: Required value');
  expect((await api.call('POST', widgets, widget({ size: 0 }))).body.message).toContain(
    'spec.size in body should be greater than or equal to 1',
  );
  const unknown = await api.call('POST', `${widgets}?fieldValidation=Strict`, widget({ size: 1, sizes: 2 }));
  expect(unknown.body.message).toContain('unknown field "spec.sizes"');
});

test('status and scale', async () => {
  await api.call('POST', crds, definition);
  await api.call('POST', widgets, widget({ size: 1 }));
  const status = await api.call('PATCH', `${widgets}/w/status`, { spec: { size: 9 }, status: { size: 1 } });
  expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { size: 1 } });
  await api.call('PATCH', `${widgets}/w/scale`, { spec: { replicas: 4 } });
  expect((await api.call('GET', `${widgets}/w`)).body).toMatchObject({
    metadata: { generation: 2 },
    spec: { size: 4 },
  });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = await api.call('GET', widgets, undefined, { accept });
  expect(body.rows[0].cells).toEqual(['w', 4]);
});

test.each<[what: string, type: string, patch: object, code: number, message: string | undefined]>([
  ['another uid', 'merge', { metadata: { uid: 'other' }, spec: { replicas: 4 } }, 200, undefined],
  [
    'less than none',
    'merge',
    { spec: { replicas: -1 } },
    422,
    '.spec.size: Invalid value: -1: should be a non-negative',
  ],
  ['a strategic patch', 'strategic-merge', { spec: { replicas: 4 } }, 415, 'accepted media types include: '],
])('a Scale of a custom resource patched with %s', async (_, type, patch, code, message) => {
  await api.call('POST', crds, definition);
  await api.call('POST', widgets, widget({ size: 1 }));
  const headers = { 'content-type': `application/${type}-patch+json` };
  const { status, body } = await api.call('PATCH', `${widgets}/w/scale`, patch, headers);
  expect(status).toBe(code);
  if (message === undefined) expect(body.spec).toEqual({ replicas: 4 });
  else expect(body.message).toContain(message);
});

test('of its status no more is a Scale than of its spec', async () => {
  await api.call('POST', crds, definition);
  await api.call('POST', widgets, widget({ size: 1 }));
  const { status, body } = await api.call('PATCH', `${widgets}/w/status`, { status: { size: -1 } });
  expect([status, body.message]).toEqual([422, expect.stringContaining('.status.size: Invalid value: -1')]);
});

test('what says no replicas has no scale, until somebody gives it one', async () => {
  const optional = structuredClone(definition);
  for (const { schema } of optional.spec.versions) schema.openAPIV3Schema.properties.spec.required = [];
  await api.call('POST', crds, optional);
  await api.call('POST', widgets, widget({}));
  const { status, body } = await api.call('GET', `${widgets}/w/scale`);
  const message = 'Internal error occurred: the spec replicas field ".spec.size" does not exist';
  expect([status, body.reason, body.message]).toEqual([500, 'InternalError', message]);
  await api.call('PATCH', `${widgets}/w/scale`, { spec: { replicas: 2 } });
  expect((await api.call('GET', `${widgets}/w/scale`)).body.spec).toEqual({ replicas: 2 });
});

test('an update names the version it saw', async () => {
  await api.call('POST', crds, definition);
  await api.call('POST', widgets, widget({ size: 1 }));
  const { body } = await api.call('PUT', `${widgets}/w`, widget({ size: 2 }));
  expect(body.message).toContain('metadata.resourceVersion: Invalid value');
});

test('another storage version: old objects are served in either', async () => {
  await api.call('POST', crds, definition);
  await api.call('POST', widgets, widget({ size: 1 }));
  const [v1] = definition.spec.versions;
  const versions = [
    { ...v1, storage: false },
    { ...v1, name: 'v2' },
  ];
  await api.call('PATCH', `${crds}/widgets.example.com`, { spec: { versions } });
  const at = (version: string) => api.call('GET', `${widgets.replace('/v1/', `/${version}/`)}/w`);
  expect((await at('v1')).body.apiVersion).toBe('example.com/v1');
  expect((await at('v2')).body).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 1 } });
  const { body } = await api.call('GET', `${crds}/widgets.example.com`);
  expect(body.status.storedVersions).toEqual(['v1', 'v2']);
});

test('a definition counts in its own logical cluster', async () => {
  await api.addCluster('root:a');
  await api.call('POST', `/clusters/root:a${crds}`, definition);
  expect((await api.call('GET', `/clusters/root:a${widgets}`)).status).toBe(200);
  expect((await api.call('GET', widgets)).status).toBe(404);
  expect((await api.call('GET', '/apis/example.com/v1')).status).toBe(404);
});

test('definitions are served again by a server that starts later', async () => {
  const { openMemory } = await import('../../../storage/memory/memory.ts');
  const store = openMemory();
  const first = startApi({ store });
  await first.call('POST', crds, definition);
  await first.server.close();
  const second = startApi({ store });
  expect((await second.call('GET', widgets)).status).toBe(200);
  await second.close();
});
