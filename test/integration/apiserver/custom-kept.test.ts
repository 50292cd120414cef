import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

/** What a list keeps is what it keeps of its items, and what is applied below it is not declared there either. */
const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
const named = { type: 'object', properties: { x: { type: 'string' } } };
const item = { type: 'object', properties: { a: named } };
const list = (items: object, more: object = keeps) => ({ type: 'array', ...more, items });
const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const properties = {
  objects: list({ type: 'object' }),
  lists: list(list(item, {})),
  maps: list({ type: 'object', additionalProperties: named }),
  keyed: list(
    { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    { ...keeps, ...keyed },
  ),
  map: { type: 'object', ...keeps, additionalProperties: named },
  closed: list(item, {}),
  empty: list({ type: 'object' }, {}),
};
const definition = {
  metadata: { name: 'keeps.reef.example' },
  spec: {
    group: 'reef.example',
    scope: 'Namespaced',
    names: { plural: 'keeps', kind: 'Keep' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
        },
      },
    ],
  },
};

let api: Api;
beforeEach(async () => {
  api = startApi();
  await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
});
afterEach(() => api.close());

const keepsPath = '/apis/reef.example/v1/namespaces/default/keeps';
const keep = (spec: object) => ({
  apiVersion: 'reef.example/v1',
  kind: 'Keep',
  metadata: { name: 'a' },
  spec,
});
const given = {
  objects: [{ a: 1, b: { c: 'd' } }],
  lists: [[{ a: { x: '1', q: '2' }, b: 1 }]],
  maps: [{ a: { x: '1', q: '2' } }],
  keyed: [{ name: 'n', other: { a: 1 } }],
  map: { a: { x: '1', q: '2' } },
};
const kept = {
  objects: given.objects,
  lists: [[{ a: { x: '1' }, b: 1 }]],
  maps: [{ a: { x: '1' } }],
  keyed: given.keyed,
  map: { a: { x: '1' } },
};
const apply = (spec: object) =>
  api.call('PATCH', `${keepsPath}/a?fieldManager=m`, keep(spec), {
    'content-type': 'application/apply-patch+yaml',
  });

test('items of a list that keeps what is not known keep it; what they name is pruned inside', async () => {
  const { body } = await api.call('POST', keepsPath, keep(given));
  expect(body.spec).toEqual(kept);
});

test('so it is applied, field by field where the list has keys', async () => {
  const { status, body } = await apply(given);
  expect([status, body.spec]).toEqual([201, kept]);
  expect(body.metadata.managedFields[0].fieldsV1['f:spec']).toEqual({
    'f:objects': {},
    'f:lists': {},
    'f:maps': {},
    'f:keyed': { 'k:{"name":"n"}': { '.': {}, 'f:name': {}, 'f:other': { '.': {}, 'f:a': {} } } },
    'f:map': { 'f:a': { '.': {}, 'f:q': {}, 'f:x': {} } },
  });
});

test('what names no field at all is applied with any, and pruned', async () => {
  const { status, body } = await apply({ empty: [{ a: 1 }] });
  expect([status, body.spec]).toEqual([201, { empty: [{}] }]);
});

test('what names some is applied with these alone', async () => {
  const { status, body } = await apply({ closed: [{ a: { x: '1' }, b: 1 }] });
  expect(status).toBe(500);
  expect(body.message).toContain('.spec.closed[0].b: field not declared in schema');
});
