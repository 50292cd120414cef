import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AdmissionPlugin } from '../../../apiserver/plugins.ts';
import { eventually } from '../../eventually.ts';
import { type Api, configMap, definitions, startApi, thingsDefinition } from './api.ts';

/** Whoever is asked about a create named `late` answers when told to. */
let asked: boolean;
let answer: () => void;
let api: Api;
beforeEach(() => {
  asked = false;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow: AdmissionPlugin = {
    name: 'Slow',
    validate({ name }) {
      if (name !== 'late') return undefined;
      asked = true;
      return answered;
    },
  };
  api = startApi({ admission: [slow] });
});
afterEach(() => api.close());

const things = '/apis/example.com/v1/namespaces/default/things';
const thing = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name } });
const own = `${definitions}/things.example.com`;

test.each(['after', 'before'])(
  'what is asked about while its definition goes is not made of the next one, made %s the answer',
  async (when) => {
    await api.call('POST', definitions, thingsDefinition());
    const late = api.call('POST', things, thing('late'));
    await eventually(async () => expect(asked).toBe(true));
    await api.call('DELETE', own);
    await api.call('PATCH', own, { metadata: { finalizers: null } });
    expect((await api.call('GET', own)).status).toBe(404);
    if (when === 'before') await api.call('POST', definitions, thingsDefinition());
    answer();
    expect((await late).body).toMatchObject({
      code: 403,
      message:
        'things.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    });
    if (when === 'after') await api.call('POST', definitions, thingsDefinition());
    expect((await api.call('GET', things)).body.items).toEqual([]);
  },
);

test('what is asked about while its version goes is stored as any other is', async () => {
  const [v1] = thingsDefinition().spec.versions;
  const definition = thingsDefinition();
  const versions = [v1, { ...v1, name: 'v2', storage: false }];
  await api.call('POST', definitions, { ...definition, spec: { ...definition.spec, versions } });
  const late = api.call('POST', things, thing('late'));
  await eventually(async () => expect(asked).toBe(true));
  const without = [
    { ...v1, served: false },
    { ...v1, name: 'v2', storage: false },
  ];
  expect((await api.call('PATCH', own, { spec: { versions: without } })).status).toBe(200);
  answer();
  expect((await late).status).toBe(201);
  const there = await api.call('GET', things.replace('/v1/', '/v2/'));
  expect(there.body.items).toMatchObject([{ metadata: { name: 'late' } }]);
});

test.each(['after', 'before'])(
  'what is asked about while its Namespace goes is not in the next one, made %s the answer',
  async (when) => {
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    const at = '/api/v1/namespaces/shop';
    expect((await api.call('POST', '/api/v1/namespaces', shop)).status).toBe(201);
    const late = api.call('POST', `${at}/configmaps`, { ...configMap('late'), metadata: { name: 'late' } });
    await eventually(async () => expect(asked).toBe(true));
    await api.call('DELETE', at);
    await api.call('PUT', `${at}/finalize`, { ...shop, spec: { finalizers: [] } });
    expect((await api.call('GET', at)).status).toBe(404);
    if (when === 'before') await api.call('POST', '/api/v1/namespaces', shop);
    answer();
    expect((await late).body).toMatchObject({ code: 404, message: 'namespaces "shop" not found' });
    if (when === 'after') await api.call('POST', '/api/v1/namespaces', shop);
    expect((await api.call('GET', `${at}/configmaps`)).body.items).toEqual([]);
  },
);
