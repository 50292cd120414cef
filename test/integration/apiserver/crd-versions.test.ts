import { afterEach, beforeEach, expect, test } from 'vitest';
import { controllersUser } from '../../../cluster/names.ts';
import { systemClient } from '../../../server/client.ts';
import { type Api, startApi } from './api.ts';

const schemaOf = (properties: object, required: string[] = []) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties, ...(required.length > 0 && { required }) } },
  },
});
const text = { type: 'string' };
/** As an operator leaves its first version served beside its second. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tides.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'tides', kind: 'Tide' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: schemaOf({ size: { type: 'integer' }, moon: text, by: { ...text, default: 'one' } }, [
          'moon',
        ]),
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        schema: schemaOf({ size: text, old: text, by: { ...text, default: 'two' } }),
      },
    ],
  },
};
const at = (version: string) => `/apis/example.com/${version}/namespaces/default/tides`;
const tide = (version: string, name: string, spec: object) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Tide',
  metadata: { name },
  spec,
});

let api: Api;
beforeEach(async () => {
  api = startApi();
  await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
});
afterEach(() => api.close());

const specIn = async (version: string, name: string) =>
  (await api.call('GET', `${at(version)}/${name}`)).body.spec;

test('a version shows what it knows of an object, and is told no field that it does not know', async () => {
  await api.call('POST', at('v1'), tide('v1', 'a', { size: 3, moon: 'full' }));
  expect(await specIn('v1beta1', 'a')).toEqual({ size: 3, by: 'one' });
  const { body } = await api.call('GET', at('v1beta1'));
  expect(body.items).toMatchObject([{ apiVersion: 'example.com/v1beta1', kind: 'Tide' }]);
  expect(body.items[0].spec).toEqual({ size: 3, by: 'one' });
});

test('an object is checked as the version of the request has it, and stored as far as the stored one knows it', async () => {
  const made = await api.call('POST', at('v1beta1'), tide('v1beta1', 'b', { size: 'large', old: 'x' }));
  expect([made.status, made.body.apiVersion, made.body.spec]).toEqual([
    201,
    'example.com/v1beta1',
    { size: 'large', by: 'two' },
  ]);
  expect(await specIn('v1', 'b')).toEqual({ size: 'large', by: 'two' });
  const refused = await api.call('POST', at('v1'), tide('v1', 'c', { size: 3 }));
  expect([refused.status, refused.body.message]).toEqual([
    422,
    'Tide.example.com "c" is invalid: spec.moon: Required value',
  ]);
});

test('a change by one version keeps nothing that it was not shown', async () => {
  await api.call('POST', at('v1'), tide('v1', 'a', { size: 3, moon: 'full' }));
  const type = { 'content-type': 'application/merge-patch+json' };
  const { status, headers, body } = await api.call(
    'PATCH',
    `${at('v1beta1')}/a`,
    { spec: { size: 'small' } },
    type,
  );
  expect([status, headers['warning'], body.spec]).toEqual([200, undefined, { size: 'small', by: 'one' }]);
  expect(await specIn('v1', 'a')).toEqual({ size: 'small', by: 'one' });
});

test('a controller of ours is shown all that is stored, under the version that it asks for', async () => {
  await api.call('POST', at('v1'), tide('v1', 'a', { size: 3, moon: 'full' }));
  const client = systemClient(api.server, controllersUser, 'root');
  const kind = { group: 'example.com', version: 'v1beta1', resource: 'tides' };
  const shown = await client.get(kind, { namespace: 'default', name: 'a' });
  expect([shown.apiVersion, shown.spec]).toEqual([
    'example.com/v1beta1',
    { size: 3, moon: 'full', by: 'one' },
  ]);
});

test('versions of one schema are as they were: what one has the other shows', async () => {
  const [first] = definition.spec.versions;
  const versions = [first, { ...first, name: 'v1beta1', storage: false }];
  const other = {
    ...definition,
    metadata: { name: 'waves.example.com' },
    spec: { ...definition.spec, names: { plural: 'waves', kind: 'Wave' }, versions },
  };
  await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', other);
  const wave = { ...tide('v1beta1', 'a', { size: 3, moon: 'full' }), kind: 'Wave' };
  await api.call('POST', at('v1beta1').replace('tides', 'waves'), wave);
  const { body } = await api.call('GET', `${at('v1').replace('tides', 'waves')}/a`);
  expect([body.apiVersion, body.spec]).toEqual(['example.com/v1', { size: 3, moon: 'full', by: 'one' }]);
});

test('what broke a rule before it was there is let pass while it stays so, with a warning', async () => {
  await api.call('POST', at('v1'), tide('v1', 'a', { moon: 'new' }));
  const [first, ...others] = definition.spec.versions;
  const rules = [{ rule: "self != 'new'", message: 'no new moon' }];
  const schema = schemaOf({
    size: { type: 'integer' },
    moon: { ...text, 'x-kubernetes-validations': rules },
  });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const name = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tides.example.com';
  await api.call('PATCH', name, { spec: { versions: [{ ...first, schema }, ...others] } }, merge);
  const { status, headers } = await api.call('PATCH', `${at('v1')}/a`, { spec: { size: 1 } }, merge);
  expect([status, headers['warning']]).toEqual([
    200,
    ['299 - "spec.moon: Invalid value: \\"new\\": no new moon"'],
  ]);
});
