import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { type Api, startApi } from '../api.ts';
import { makeAvailable, register } from './scene.ts';

let api: Api;
let extension: Extension;
/** What the extension answers at a path; its other answers are as ever. */
let said: Map<string, { status: number; headers: Record<string, string>; body: string }>;

beforeEach(async () => {
  extension = await startExtension();
  said = new Map();
  extension.instead = (request, response) => {
    const answer = said.get((request.url ?? '').replace(/\?.*/, ''));
    if (answer === undefined) return false;
    response.writeHead(answer.status, answer.headers).end(answer.body);
    return true;
  };
  api = startApi();
});
afterEach(async () => {
  await api.close();
  await extension.close();
});

function say(path: string, value: object, headers: Record<string, string> = {}): void {
  const all = { 'content-type': 'application/json', ...headers };
  said.set(path, { status: 200, headers: all, body: JSON.stringify(value) });
}

const askedFor = (path: string) => extension.asked.filter(({ url }) => url === path);
const urlsOf = (paths: Record<string, { serverRelativeURL: string }>) =>
  Object.fromEntries(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]));
const index = async (prefix = '') => {
  const { status, body } = await api.call('GET', `${prefix}/openapi/v3`);
  expect(status).toBe(200);
  return urlsOf((typeof body === 'string' ? JSON.parse(body) : body).paths);
};
const other = (paths: Record<string, string>) =>
  say('/openapi/v3', {
    paths: Object.fromEntries(Object.entries(paths).map(([path, url]) => [path, { serverRelativeURL: url }])),
  });

describe('the OpenAPI 3 documents of another API server', () => {
  test('are in the index, and passed on to whoever asks, by who that is', async () => {
    other({
      [`apis/${gv}`]: `/openapi/v3/apis/${gv}?hash=AB12`,
      [`apis/${group}`]: `/openapi/v3/apis/${group}`,
    });
    say(`/openapi/v3/apis/${gv}`, { openapi: '3.0.0' }, { etag: '"AB12"' });
    say(`/openapi/v3/apis/${group}`, { openapi: '3.0.1' });
    const before = await index();
    await register(api, extension);
    expect(await index()).toEqual({
      ...before,
      [`apis/${group}`]: `/openapi/v3/apis/${group}`,
      [`apis/${gv}`]: `/openapi/v3/apis/${gv}?hash=AB12`,
    });
    expect(askedFor('/openapi/v3')).toMatchObject([{ headers: { 'x-remote-user': 'system:aggregator' } }]);
    const { status, body, headers } = await api.call('GET', `/openapi/v3/apis/${gv}?hash=AB12`);
    expect([status, body, headers?.['etag']]).toEqual([200, { openapi: '3.0.0' }, '"AB12"']);
    expect(extension.asked.at(-1)).toMatchObject({
      url: `/openapi/v3/apis/${gv}`,
      headers: { 'x-remote-user': 'admin' },
    });
    expect((await api.call('GET', `/openapi/v3/apis/${group}`)).body).toEqual({ openapi: '3.0.1' });
  });

  test('are asked for once, and there only: no other logical cluster has them', async () => {
    other({ [`apis/${gv}`]: `/openapi/v3/apis/${gv}?hash=AB12` });
    const elsewhere = `/clusters/${await api.addCluster('root:team-a')}`;
    await register(api, extension);
    for (let i = 0; i < 3; i++) expect(await index()).toHaveProperty([`apis/${gv}`]);
    expect(askedFor('/openapi/v3')).toHaveLength(1);
    expect(await index(elsewhere)).not.toHaveProperty([`apis/${gv}`]);
    expect((await api.call('GET', `${elsewhere}/openapi/v3/apis/${gv}`)).status).toBe(404);
  });

  test('are asked for by somebody who may read documents in that logical cluster, when the server asks there', async () => {
    other({});
    const prefix = `/clusters/${await api.addCluster('root:team-a')}`;
    for (const name of ['default', 'kube-system']) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await api.call('POST', `${prefix}/api/v1/namespaces`, namespace);
    }
    await register(api, extension, prefix);
    await index(prefix);
    const { headers = {} } = askedFor('/openapi/v3')[0] ?? {};
    const extra = Object.entries(headers).flatMap(([name, value]) => {
      const [, key] = /^x-remote-extra-(.*)$/.exec(name) ?? [];
      return key === undefined ? [] : [[decodeURIComponent(key), [value]]];
    });
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: headers['x-remote-user'],
        groups: ['system:authenticated'],
        extra: Object.fromEntries(extra),
        nonResourceAttributes: { path: '/openapi/v3', verb: 'get' },
      },
    };
    const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    expect((await api.call('POST', prefix + reviews, review)).body.status.allowed).toBe(true);
  });

  test('are none but of its own group and version, and lead nowhere else', async () => {
    const evil = '/openapi/v3/apis/apps/v1?hash=EVIL';
    other({
      [`apis/${gv}`]: 'https://elsewhere/openapi/v3?hash=AB12#/../x',
      'apis/apps/v1': evil,
      'api/v1': evil,
      'apis/other.example.com/v1': evil,
      version: evil,
      [`apis/${gv}/more`]: evil,
    });
    const before = await index();
    await register(api, extension);
    expect(await index()).toEqual({ ...before, [`apis/${gv}`]: `/openapi/v3/apis/${gv}` });
    const asked = extension.asked.length;
    expect((await api.call('GET', '/openapi/v3/apis/other.example.com/v1')).status).toBe(404);
    expect((await api.call('GET', `/openapi/v3/apis/${gv}/more`)).status).toBe(404);
    expect((await api.call('GET', '/openapi/v3/apis/apps/v1')).body.openapi).toBe('3.0.0');
    expect(extension.asked).toHaveLength(asked);
  });

  test.each([
    ['is none', { status: 404, headers: {}, body: '' }],
    ['is no JSON', { status: 200, headers: {}, body: '{' }],
    ['is no index', { status: 200, headers: {}, body: '{"paths":[{"apis":3}]}' }],
    ['fails', { status: 500, headers: {}, body: '' }],
    ['leads elsewhere', { status: 302, headers: { location: 'https://elsewhere' }, body: '' }],
    ['is too long', { status: 200, headers: {}, body: ' '.repeat(513 << 10) }],
  ])('whose index %s leave ours as it is, and are not asked for again at once', async (_what, answer) => {
    said.set('/openapi/v3', answer);
    const before = await index();
    await register(api, extension);
    expect(await index()).toEqual(before);
    expect(await index()).toEqual(before);
    expect(askedFor('/openapi/v3')).toHaveLength(1);
  });

  test('stay in the index while it does not answer, and are then not to be had, as on Kubernetes', async () => {
    other({ [`apis/${gv}`]: `/openapi/v3/apis/${gv}?hash=AB12` });
    await register(api, extension);
    const before = await index();
    await makeAvailable(api, `v1alpha1.${group}`, '', 'False');
    expect(await index()).toEqual(before);
    expect(await api.call('GET', `/openapi/v3/apis/${gv}`)).toMatchObject({
      status: 503,
      body: 'service unavailable\n',
    });
    await api.call('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.${group}`);
    expect(await index()).not.toHaveProperty([`apis/${gv}`]);
  });
});

describe('the OpenAPI 2 document of another API server', () => {
  const at = `/apis/${gv}/flunders`;
  const swagger = (description = 'a flunder') => ({
    swagger: '2.0',
    paths: { [at]: { get: { responses: { '200': { schema: { $ref: '#/definitions/Flunder' } } } } } },
    definitions: { Flunder: { description } },
  });
  const document = async (prefix = '', headers: Record<string, string> = {}) =>
    api.call('GET', `${prefix}/openapi/v2`, undefined, headers);

  test('is in ours, of its logical cluster alone, asked for once', async () => {
    say('/openapi/v2', swagger(), { etag: '"1"' });
    const elsewhere = `/clusters/${await api.addCluster('root:team-a')}`;
    const before = await document();
    await register(api, extension);
    const { body, headers } = await document();
    expect(body).toEqual({
      ...before.body,
      paths: { ...before.body.paths, ...swagger().paths },
      definitions: { ...before.body.definitions, ...swagger().definitions },
      parameters: {},
    });
    expect(headers['etag']).not.toBe(before.headers['etag']);
    expect((await document('', { 'if-none-match': String(headers['etag']) })).status).toBe(304);
    expect((await document(elsewhere)).headers['etag']).toBe(before.headers['etag']);
    expect(askedFor('/openapi/v2')).toHaveLength(1);
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    expect((await document('', { accept })).headers['content-type']).toContain('protobuf');
  });

  test.each([
    ['has no end', `{"paths":{${'"a":['.repeat(10)}`],
    ['refers to nothing', JSON.stringify({ ...swagger(), definitions: {} })],
    ['is too long', JSON.stringify(swagger('a'.repeat(2 << 20)))],
    ['is no object', '[]'],
  ])('that %s leaves ours as it is', async (_what, body) => {
    said.set('/openapi/v2', { status: 200, headers: {}, body });
    const before = await document();
    await register(api, extension);
    expect((await document()).headers['etag']).toBe(before.headers['etag']);
    expect(askedFor('/openapi/v2')).toHaveLength(1);
  });
});
