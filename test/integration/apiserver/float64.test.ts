import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeYaml } from '../../../kube/yaml.ts';
import { type Api, definitions, deployment, deployments, startApi, thingsDefinition } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const one = `${definitions}/things.example.com`;
const n = '/spec/versions/0/schema/openAPIV3Schema/properties/n';

const definition = (maximum: string): string =>
  JSON.stringify(thingsDefinition({ n: { type: 'number', maximum: 'NUMBER' } })).replace('"NUMBER"', maximum);

/** A number as it is sent, and the float64 that Go makes of it. */
const numbers: [string, number][] = [
  ['0', 0],
  ['1e3', 1000],
  ['9007199254740993', 9007199254740992],
  ['9223372036854775000', 9223372036854775000],
  ['9223372036854775807', 2 ** 63],
  ['-9223372036854775808', -(2 ** 63)],
  ['18446744073709551615', 2 ** 64],
];

const ways: [string, (number: string) => [method: string, url: string, body: string, type: string]][] = [
  ['create', (x) => ['POST', definitions, definition(x), 'application/json']],
  ['create in YAML', (x) => ['POST', definitions, yaml(x), 'application/yaml']],
  [
    'apply that creates',
    (x) => ['PATCH', `${one}?fieldManager=a`, definition(x), 'application/apply-patch+yaml'],
  ],
  ['update', (x) => ['PUT', one, definition(x), 'application/json']],
  ['merge patch', (x) => ['PATCH', one, definition(x), 'application/merge-patch+json']],
  ['strategic merge patch', (x) => ['PATCH', one, definition(x), 'application/strategic-merge-patch+json']],
  [
    'JSON patch',
    (x) => [
      'PATCH',
      one,
      `[{"op":"replace","path":"${n}/maximum","value":${x}}]`,
      'application/json-patch+json',
    ],
  ],
  [
    'apply',
    (x) => ['PATCH', `${one}?fieldManager=a&force=true`, definition(x), 'application/apply-patch+yaml'],
  ],
];

function yaml(number: string): string {
  return encodeYaml(JSON.parse(definition('"NUMBER"'))).replace(/["']?NUMBER["']?/, number);
}

const table = ways.flatMap(([way, request]) => numbers.map(([sent, kept]) => ({ way, request, sent, kept })));

test.each(table)('$way takes $sent where Go has a float64', async ({ way, request, sent, kept }) => {
  if (!way.includes('create')) await api.call('POST', definitions, definition('7'));
  const [method, url, body, type] = request(sent);
  const { body: before } = await api.call('GET', one);
  const text =
    method === 'PUT'
      ? body.replace('"metadata":{', `"metadata":{"resourceVersion":"${before.metadata.resourceVersion}",`)
      : body;
  const answer = await api.call(method, url, text, { 'content-type': type });
  expect(answer.body).toMatchObject({ kind: 'CustomResourceDefinition' });
  const { body: stored } = await api.call('GET', one);
  const { schema } = stored.spec.versions[0];
  expect(schema.openAPIV3Schema.properties.n.maximum ?? 0).toBe(kept);
});

const merge = 'application/merge-patch+json';
const json = 'application/json-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const replace = (x: string) => `[{"op":"replace","path":"/spec/replicas","value":${x}}]`;
const set = (x: string) => `{"spec":{"replicas":${x}}}`;

test.each([
  [
    merge,
    set('3.0'),
    'cannot unmarshal number 3.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    merge,
    set('3e0'),
    'cannot unmarshal number 3e0 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    json,
    replace('3.0'),
    'cannot unmarshal number 3.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
])('a patch in %s of %s is refused, an integer being no such number', async (type, patch, why) => {
  await api.call('POST', deployments, deployment('web'));
  const refused = await api.call('PATCH', `${deployments}/web`, patch, { 'content-type': type });
  expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining(why) } });
  const number = why.split(' ')[3];
  expect(refused.body.message).toContain(`\\"replicas\\":${number},`);
  const scaled = await api.call('PATCH', `${deployments}/web/scale`, patch, { 'content-type': type });
  expect(scaled).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('ScaleSpec.spec.replicas') },
  });
});

test('a strategic merge patch takes 3.0 for an integer, and so does a merge patch of a custom resource', async () => {
  await api.call('POST', deployments, deployment('web'));
  const patched = await api.call('PATCH', `${deployments}/web`, set('3.0'), { 'content-type': strategic });
  expect(patched).toMatchObject({ status: 200, body: { spec: { replicas: 3 } } });
  await api.call('POST', definitions, thingsDefinition({ n: { type: 'integer' } }));
  const things = '/apis/example.com/v1/namespaces/default/things';
  await api.call('POST', things, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } });
  const thing = await api.call('PATCH', `${things}/one`, '{"n":3.0}');
  expect(thing).toMatchObject({ status: 200, body: { n: 3 } });
});

/** What kube-apiserver 1.36.3 answers. */
test.each([
  [json, 'null', 200, undefined],
  [strategic, 'null', 200, undefined],
  [merge, 'null', 400, 'Invalid JSON Patch'],
  [json, '{', 400, 'error decoding patch: unexpected end of JSON input'],
  [merge, '{', 400, 'error decoding patch: unexpected end of JSON input'],
  [strategic, '{', 400, 'unexpected end of JSON input'],
])('a patch in %s of %s is answered %i', async (type, patch, status, why) => {
  await api.call('POST', deployments, deployment('web'));
  const answer = await api.call('PATCH', `${deployments}/web`, patch, { 'content-type': type });
  expect(answer.status).toBe(status);
  if (why !== undefined) expect(answer.body.message).toMatch(new RegExp(`^${why}`));
});
