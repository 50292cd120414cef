import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

/** A node without a type keeps what it does not know; what it does know is pruned as anywhere else. */
const known = { type: 'object', properties: { a: { type: 'string', default: 'd' } } };
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const spec = { ...open, properties: { known, deeper: { ...open, properties: { known } } } };
const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
const item = { type: 'object', required: ['k'], properties: { k: { type: 'string' } } };
const lists = { ...open, properties: { l: { type: 'array', ...keyed, items: item } } };
const named = { ...open, additionalProperties: known };

const definition = {
  metadata: { name: 'tides.reef.example' },
  spec: {
    group: 'reef.example',
    scope: 'Namespaced',
    names: { plural: 'tides', kind: 'Tide' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, lists, named } } },
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

const tides = '/apis/reef.example/v1/namespaces/default/tides';
const given = { known: { b: 1 }, other: { c: 1 }, deeper: { known: { b: 1 }, other: { c: 1 } } };
const tide = { apiVersion: 'reef.example/v1', kind: 'Tide', metadata: { name: 'a' }, spec: given };

test('what is known inside of what is not typed is pruned', async () => {
  const { body } = await api.call('POST', tides, tide);
  expect(body.spec).toEqual({
    known: { a: 'd' },
    other: { c: 1 },
    deeper: { known: { a: 'd' }, other: { c: 1 } },
  });
});

test('and told to whoever wants to know', async () => {
  const { status, body } = await api.call('POST', `${tides}?fieldValidation=Strict`, tide);
  expect(status).toBe(400);
  expect(body.message).toContain('unknown field "spec.deeper.known.b", unknown field "spec.known.b"');
});

test('so are entries of any name', async () => {
  const { body } = await api.call('POST', tides, { ...tide, spec: {}, named: { one: { b: 1 } } });
  expect(body.named).toEqual({ one: { a: 'd' } });
});

test('who applies parts of what is known inside has these, beside what others applied', async () => {
  const apply = (manager: string, value: object) => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = { ...tide, spec: {}, lists: value };
    return api.call('PATCH', `${tides}/a?fieldManager=${manager}`, body, headers);
  };
  await apply('first', { l: [{ k: 'p' }] });
  const { status, body } = await apply('second', { l: [{ k: 'q' }], other: 1 });
  expect([status, body.lists]).toEqual([200, { l: [{ k: 'p' }, { k: 'q' }], other: 1 }]);
  const owned = body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'second');
  expect(owned.fieldsV1['f:lists']).toEqual({
    'f:l': { 'k:{"k":"q"}': { '.': {}, 'f:k': {} } },
    'f:other': {},
  });
});
