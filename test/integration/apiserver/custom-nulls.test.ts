import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, definitions, startApi, thingsDefinition } from './api.ts';

const things = '/apis/example.com/v1/namespaces/default/things';
const text = { type: 'string' };

const places = {
  text,
  textNullable: { ...text, nullable: true },
  textDefault: { ...text, default: 'd' },
  choice: { ...text, nullable: true, enum: ['a', null] },
  object: { type: 'object', properties: { a: text } },
  required: { type: 'object', required: ['a'], properties: { a: text } },
  list: { type: 'array', items: text },
  listOfNullable: { type: 'array', items: { ...text, nullable: true } },
  map: { type: 'object', additionalProperties: text },
  mapOfDefaults: { type: 'object', additionalProperties: { ...text, default: 'd' } },
  anything: { 'x-kubernetes-preserve-unknown-fields': true },
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: text } },
  intOrString: { 'x-kubernetes-int-or-string': true },
  intOrStringDefault: { 'x-kubernetes-int-or-string': true, default: 3 },
  embedded: {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  },
};

let api: Api;
beforeAll(async () => {
  api = startApi();
  const spec = { type: 'object', properties: places };
  await api.call('POST', definitions, thingsDefinition({ spec }));
});
afterAll(() => api.close());

const wrong = (path: string, type: string) => `${path} in body must be of type ${type}: "null"`;

/**
 * What kube-apiserver 1.36.3 makes of a null: what it keeps of it, or what it says. Bodies and patches drop it where it
 * has no place; what is applied is told of it.
 */
const cases: [keyof typeof places, unknown, sent: unknown, applied: unknown][] = [
  ['text', null, undefined, wrong('spec.text', 'string')],
  ['textNullable', null, null, null],
  ['textDefault', null, 'd', 'd'],
  ['choice', null, 'Unsupported value: null: supported values: "a", "null"', 'Unsupported value: null'],
  ['object', null, undefined, wrong('spec.object', 'object')],
  ['object', { a: null }, {}, wrong('spec.object.a', 'string')],
  ['required', { a: null }, 'spec.required.a: Required value', wrong('spec.required.a', 'string')],
  ['list', null, undefined, wrong('spec.list', 'array')],
  ['list', ['a', null], wrong('spec.list[1]', 'string'), wrong('spec.list[1]', 'string')],
  ['listOfNullable', [null], [null], [null]],
  ['map', { a: null }, {}, wrong('spec.map.a', 'string')],
  ['mapOfDefaults', { a: null }, { a: 'd' }, { a: 'd' }],
  ['anything', null, undefined, undefined],
  ['anything', { a: null }, { a: null }, { a: null }],
  ['open', { z: null }, { z: null }, { z: null }],
  ['open', { a: null }, {}, wrong('spec.open.a', 'string')],
  ['intOrString', null, undefined, wrong('spec.intOrString', 'integer,string')],
  ['intOrStringDefault', null, 3, 3],
  [
    'embedded',
    { apiVersion: 'v1', kind: 'X', metadata: null, spec: null },
    { apiVersion: 'v1', kind: 'X', metadata: {}, spec: null },
    { apiVersion: 'v1', kind: 'X', metadata: {}, spec: null },
  ],
  [
    'embedded',
    { apiVersion: 'v1', kind: null },
    'spec.embedded.kind: Invalid value: null: must be a string',
    'spec.embedded.kind: Invalid value: null: must be a string',
  ],
];

const thing = (place: string, value: unknown, name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...more },
  spec: { [place]: value },
});

function expectKept(status: number, body: { spec?: Record<string, unknown> }, place: string, kept: unknown) {
  const isMessage = typeof kept === 'string' && kept.length > 1;
  expect(JSON.stringify(isMessage ? body : { status: body })).toContain(
    isMessage ? JSON.stringify(kept).slice(1, -1) : 'spec',
  );
  if (isMessage) expect([400, 422]).toContain(status);
  else expect(body.spec?.[place]).toEqual(kept);
}

test.each(cases)('a null in %s: %j', async (place, value, sent, applied) => {
  const { call } = api;
  const name = `n${cases.findIndex((one) => one[0] === place && one[1] === value)}`;
  const dry = `${things}/${name}?dryRun=All`;
  const created = await call('POST', `${things}?dryRun=All`, thing(place, value, name));
  expectKept(created.status, created.body, place, sent);
  const { body: there } = await call('POST', things, { ...thing(place, value, name), spec: {} });
  const { resourceVersion } = there.metadata;
  const put = await call('PUT', dry, thing(place, value, name, { resourceVersion }));
  expectKept(put.status, put.body, place, sent);
  const operation = { op: 'add', path: `/spec/${place}`, value };
  const type = { 'content-type': 'application/json-patch+json' };
  const patched = await call('PATCH', dry, [operation], type);
  expectKept(patched.status, patched.body, place, sent);
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  for (const at of [dry, `${things}/new?dryRun=All`]) {
    const object = thing(place, value, at === dry ? name : 'new');
    const made = await call('PATCH', `${at}&fieldManager=me&force=true`, object, apply);
    expectKept(made.status, made.body, place, applied);
  }
});
