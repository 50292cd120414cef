import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, definitions, startApi, take, thingsDefinition, watch } from './api.ts';

let api: Api;
beforeEach(async () => {
  api = startApi();
  const definition = thingsDefinition();
  const [version] = definition.spec.versions;
  const versions = ['v1', 'v2'].map((name) => ({ ...version, name, storage: name === 'v1' }));
  await api.call('POST', definitions, { ...definition, spec: { ...definition.spec, versions } });
  await api.call('POST', things('v1'), thing('a'));
});
afterEach(() => api.close());

const own = `${definitions}/things.example.com`;
const things = (version: string) => `/apis/example.com/${version}/namespaces/default/things`;
const thing = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name } });

/** The watch of a version, which has begun, and what it tells from then on. */
async function watching(version: string): Promise<() => Promise<string[]>> {
  const events = watch(
    api.server.transport({ name: 'a', groups: ['system:masters'] }),
    `${things(version)}?watch=true`,
  );
  const [begin] = await take(events, 1);
  expect(begin?.object.metadata.name).toBe('a');
  return async () => {
    const told = await take(events, 10);
    return told.map(({ type, object }) => `${type} ${object.metadata.name}`);
  };
}

test('a watch of a version that is served no more ends; of one that is, with its definition', async () => {
  const [one, two] = [await watching('v1'), await watching('v2')];
  const { body } = await api.call('GET', own);
  body.spec.versions[1].served = false;
  expect((await api.call('PUT', own, body)).status).toBe(200);
  expect(await two()).toEqual([]);
  await api.call('POST', things('v1'), thing('b'));
  for (const name of ['a', 'b']) await api.call('DELETE', `${things('v1')}/${name}`);
  await api.call('DELETE', own);
  // As the controller of definitions lets it go.
  const ending = await api.call('GET', own);
  ending.body.metadata.finalizers = [];
  await api.call('PUT', own, ending.body);
  expect(await one()).toEqual(['ADDED b', 'DELETED a', 'DELETED b']);
});
