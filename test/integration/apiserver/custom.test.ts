import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

/** What kube-apiserver 1.36.3 answers of custom resources, whose metadata alone is typed. */
const tides = '/apis/reef.example/v1/namespaces/default/tides';
const integer = { type: 'integer' };
const rules = { 'x-kubernetes-validations': [{ rule: 'self.n != 7' }] };

const definition = (plural: string, spec: object) => ({
  metadata: { name: `${plural}.reef.example` },
  spec: {
    group: 'reef.example',
    scope: 'Namespaced',
    names: { plural, kind: plural === 'tides' ? 'Tide' : 'Ebb' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { n: integer }, ...spec },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
});

const tide = (metadata: unknown = { name: 'a' }, rest: object = {}) => ({
  apiVersion: 'reef.example/v1',
  kind: 'Tide',
  metadata,
  ...rest,
});

let api: Api;
beforeEach(async () => {
  api = startApi();
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await api.call('POST', definitions, definition('tides', {}))).status).toBe(201);
  expect((await api.call('POST', definitions, definition('ebbs', rules))).status).toBe(201);
});
afterEach(() => api.close());

const put = (metadata: unknown) => api.call('POST', tides, tide(metadata));
const patch = (body: object, type = 'merge-patch+json', query = '') =>
  api.call('PATCH', `${tides}/a${query}`, body, { 'content-type': `application/${type}` });

const wrong = (what: string, field: string, type: string) =>
  `json: cannot unmarshal ${what} into Go struct field ${field} of type ${type}`;

describe('metadata of a wrong type is refused', () => {
  test.each<[object, string]>([
    [{ labels: { a: 1 } }, wrong('number', 'ObjectMeta.labels', 'string')],
    [{ labels: [] }, wrong('array', 'ObjectMeta.labels', 'map[string]string')],
    [{ labels: { a: true } }, wrong('bool', 'ObjectMeta.labels', 'string')],
    [{ name: 5 }, wrong('number', 'ObjectMeta.name', 'string')],
    [{ generateName: 5 }, wrong('number', 'ObjectMeta.generateName', 'string')],
    [{ uid: 1 }, wrong('number', 'ObjectMeta.uid', 'types.UID')],
    [{ finalizers: 'x' }, wrong('string', 'ObjectMeta.finalizers', '[]string')],
    [{ finalizers: [1] }, wrong('number', 'ObjectMeta.finalizers', 'string')],
    [{ ownerReferences: [{ kind: 1 }] }, wrong('number', 'OwnerReference.ownerReferences.kind', 'string')],
    [{ generation: 'x' }, wrong('string', 'ObjectMeta.generation', 'int64')],
    [{ managedFields: 'x' }, wrong('string', 'ObjectMeta.managedFields', '[]v1.ManagedFieldsEntry')],
    [
      { creationTimestamp: 'x' },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
  ])('%j', async (metadata, why) => {
    expect((await put({ name: 'a', ...metadata })).body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: `Tide in version "v1" cannot be handled as a Tide: ${why}`,
    });
    await put({ name: 'a' });
    const { body } = await patch({ metadata });
    expect(body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'patch', message: expect.stringMatching(/^Invalid value: "\{/) },
    ]);
    expect(body.message.endsWith(`: ${why}`)).toBe(true);
    expect((await api.call('GET', `${tides}/a`)).body.metadata.generation).toBe(1);
  });

  test.each(['x', [], 5])('%j', async (metadata) => {
    const type = typeof metadata === 'object' ? 'array' : typeof metadata;
    const why = `json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`;
    expect((await put(metadata)).body).toMatchObject({
      code: 400,
      message: `Tide in version "v1" cannot be handled as a Tide: ${why}`,
    });
  });
});

test('what is empty in metadata is not there, and a null among texts is empty', async () => {
  const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [], generateName: '' };
  const made = (await put({ name: 'a', ...empty })).body;
  expect(Object.keys(made.metadata).sort()).toEqual([
    'creationTimestamp',
    'generation',
    'name',
    'namespace',
    'resourceVersion',
    'uid',
  ]);
  const nulls = (await put({ name: 'b', annotations: { x: null } })).body;
  expect(nulls.metadata.annotations).toEqual({ x: '' });
  const kept = await patch({ metadata: { labels: {}, finalizers: [] } });
  expect(kept.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
});

describe('a patch that makes it something else is refused', () => {
  test.each<[object, string]>([
    [{ kind: 'Other' }, 'Other.reef.example "a" is invalid: kind: Invalid value: "Other": must be Tide'],
    [
      { apiVersion: 'reef.example/v9' },
      'Tide.reef.example "a" is invalid: apiVersion: Invalid value: "reef.example/v9": must be reef.example/v1',
    ],
    [
      { metadata: { resourceVersion: null } },
      'tides.reef.example "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ],
  ])('%j', async (body, message) => {
    await put({ name: 'a' });
    expect((await patch(body)).body).toMatchObject({ code: 422, message });
  });

  test.each<[object, RegExp]>([
    [{ kind: null }, /: Object 'Kind' is missing in '\{"apiVersion":"reef.example\/v1","metadata":\{/],
    [
      { apiVersion: 5 },
      /: couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string$/,
    ],
  ])('%j', async (body, message) => {
    await put({ name: 'a' });
    expect((await patch(body)).body).toMatchObject({ code: 422, message: expect.stringMatching(message) });
  });

  test('an unknown field, where fields are to be known', async () => {
    await put({ name: 'a' });
    const { body } = await patch({ spec: { m: 1 } }, undefined, '?fieldValidation=Strict');
    expect(body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(body.message).toMatch(/: strict decoding error: unknown field "spec\.m"$/);
  });
});

test('an apply may say anything of what is the server’s own', async () => {
  const before = (await put({ name: 'a' })).body.metadata;
  const own = { name: 'a', creationTimestamp: 5, generation: 1.5 };
  const { status, body } = await patch(tide(own), 'apply-patch+yaml', '?fieldManager=m');
  expect(status).toBe(200);
  expect(body.metadata).toMatchObject({ creationTimestamp: before.creationTimestamp, generation: 1 });
});

test('rules that were not checked are told of only where there are rules', async () => {
  const causes = async (plural: string, kind: string) => {
    const object = { ...tide({ name: 'a' }, { spec: { n: 'x' } }), kind };
    const { body } = await api.call('POST', tides.replace('tides', plural), object);
    return body.details.causes.map(({ field }: { field: string }) => field);
  };
  expect(await causes('tides', 'Tide')).toEqual(['spec.n']);
  expect(await causes('ebbs', 'Ebb')).toEqual(['spec.n', '<nil>']);
});

test('a definition without a subresource for the status has it written with the rest, by any verb', async () => {
  const made = await api.call('POST', tides, tide({ name: 'a' }, { spec: { n: 1 }, status: { seen: 1 } }));
  expect(made.body).toMatchObject({ status: { seen: 1 }, metadata: { generation: 1 } });
  const patched = await patch({ status: { seen: 2 } });
  expect(patched.body).toMatchObject({ status: { seen: 2 }, metadata: { generation: 2 } });
  const applied = { ...tide({ name: 'a' }), status: { applied: true } };
  const query = '?fieldManager=me';
  const both = await patch(applied, 'apply-patch+yaml', query);
  expect(both.body).toMatchObject({ status: { seen: 2, applied: true }, metadata: { generation: 3 } });
  const put = await api.call('PUT', `${tides}/a`, { ...both.body, status: { seen: 4 } });
  expect(put.body).toMatchObject({ status: { seen: 4 }, metadata: { generation: 4 } });
  const none = await api.call('GET', `${tides}/a/status`);
  expect(none.body).toMatchObject({ code: 404, message: 'tides.reef.example "a" not found' });
  const { body } = await api.call('GET', `${tides}/a`);
  expect(body.status).toEqual({ seen: 4 });
});

test.each([
  [`${tides}/a`, 200],
  [tides, 200],
  [`${tides}/none`, 404],
  ['/api/v1/namespaces/default', 405],
])('HEAD %s', async (path, status) => {
  expect((await api.call('POST', tides, tide())).status).toBe(201);
  expect((await api.call('HEAD', path)).status).toBe(status);
});
