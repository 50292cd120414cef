import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, definitions, startApi, thingsDefinition } from './api.ts';

const things = '/apis/example.com/v1/namespaces/default/things';
const text = { type: 'string' };
const inside = { type: 'object', properties: { a: text } };
const whole = { type: 'object', 'x-kubernetes-embedded-resource': true };
const places = {
  closed: {
    ...whole,
    properties: { metadata: { type: 'object', properties: { name: text } }, spec: inside },
  },
  open: { ...whole, 'x-kubernetes-preserve-unknown-fields': true },
  list: { type: 'array', items: { ...whole, properties: { spec: inside } } },
};

let api: Api;
beforeAll(async () => {
  api = startApi();
  const spec = { type: 'object', properties: places };
  await api.call('POST', definitions, thingsDefinition({ spec }));
});
afterAll(() => api.close());

const sub = (metadata: object, more: object) => ({ apiVersion: 'v1', kind: 'Sub', metadata, ...more });
const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' };
const known = { name: 'sub', namespace: 'other', labels: { a: 'b' } };
const thing = {
  zzz: 1,
  aaa: 1,
  spec: {
    odd: 1,
    closed: sub(
      { ...known, unknownMeta: 'bar', ownerReferences: [{ ...owner, nope: 1 }] },
      { spec: { a: 'x', zzz: 1 }, other: 1 },
    ),
    open: sub({ name: 'sub', unknownOpen: 'bar' }, { spec: { a: 'x', zzz: 1 }, other: 1 }),
    list: [sub({ name: 'sub', unknownList: 'bar' }, { spec: { a: 'x', zzz: 1 }, b: 1 })],
  },
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one', odd: 1 },
};

/** As kube-apiserver 1.36.3 tells them, in its order: of the metadata, of the schema, of metadata inside. */
const unknown = [
  'metadata.odd',
  'aaa',
  'spec.closed.other',
  'spec.closed.spec.zzz',
  'spec.list[0].b',
  'spec.list[0].spec.zzz',
  'spec.odd',
  'zzz',
  'spec.closed.metadata.ownerReferences[0].nope',
  'spec.closed.metadata.unknownMeta',
  'spec.list[0].metadata.unknownList',
  'spec.open.metadata.unknownOpen',
].map((path) => `unknown field "${path}"`);

const warningsIn = (headers: Record<string, string | string[] | undefined>) =>
  [headers['warning'] ?? []].flat().map((line) => JSON.parse(line.slice('299 - '.length)));

test('what an object inside another does not know is told, its metadata is whatever its schema says of it', async () => {
  const strict = await api.call('POST', `${things}?fieldValidation=Strict`, thing);
  expect(strict.status).toBe(400);
  expect(strict.body.message).toContain(`strict decoding error: ${unknown.join(', ')}`);
});

test('and goes where it is only warned of', async () => {
  const { status, headers, body } = await api.call('POST', `${things}?fieldValidation=Warn`, thing);
  expect(status).toBe(201);
  expect(warningsIn(headers)).toEqual(unknown);
  expect(body.spec).toEqual({
    closed: sub({ ...known, ownerReferences: [owner] }, { spec: { a: 'x' } }),
    open: sub({ name: 'sub' }, { spec: { a: 'x', zzz: 1 }, other: 1 }),
    list: [sub({ name: 'sub' }, { spec: { a: 'x' } })],
  });
});

test('applying knows nothing of it', async () => {
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const { body } = await api.call(
    'PATCH',
    `${things}/new?fieldManager=me`,
    { ...thing, metadata: { name: 'new', odd: 1 } },
    apply,
  );
  expect(body.message).toContain('field not declared in schema');
  expect(body.message).not.toMatch(/spec\.(closed|open|list)/);
});

test.each([{ labels: { a: 1 } }, { name: 5 }, { finalizers: [1] }, { ownerReferences: 'x' }])(
  'metadata of an object inside another that is none is refused however it comes: %j',
  async (metadata) => {
    const spec = { open: sub(metadata, {}) };
    const odd = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'odd' }, spec };
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    const made = await api.call('POST', things, odd);
    const applied = await api.call('PATCH', `${things}/odd?fieldManager=me`, odd, apply);
    expect([made.status, applied.status]).toEqual([400, 422]);
    const shown = JSON.stringify(metadata);
    const why = `spec.open.metadata: Invalid value: ${shown}: json: cannot unmarshal`;
    expect(applied.body.message).toContain(why);
    expect((await api.call('GET', `${things}/odd`)).status).toBe(404);
  },
);

test('a finalizer without a domain is as good as any on a custom resource, not on others', async () => {
  const metadata = { name: 'held', finalizers: ['cluster.rook.io'] };
  const made = await api.call('POST', things, { ...thing, spec: {}, metadata });
  expect([made.status, made.body.metadata.finalizers]).toEqual([201, metadata.finalizers]);
  const more = [...metadata.finalizers, 'another'];
  const changed = await api.call('PATCH', `${things}/held`, { metadata: { finalizers: more } });
  expect([changed.status, changed.body.metadata.finalizers]).toEqual([200, more]);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const { body } = await api.call('POST', '/api/v1/namespaces/default/configmaps', map);
  expect(body.details.causes[0].field).toBe('metadata.finalizers[0]');
});

test('a finalizer without a path is warned of once, and written', async () => {
  const warning =
    'metadata.finalizers: "field": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers';
  const body = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'kept', finalizers: ['field'] },
  };
  const made = await api.call('POST', things, body);
  expect([made.status, warningsIn(made.headers)]).toEqual([201, [warning]]);
  const again = await api.call('PUT', `${things}/kept`, made.body);
  expect([again.status, warningsIn(again.headers)]).toEqual([200, []]);
});
