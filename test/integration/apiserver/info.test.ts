import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TokenKeys } from '../../../apiserver/authn/keys.ts';
import { type Api, definitions, startApi, thingsDefinition } from './api.ts';

const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

let api: Api;
beforeAll(async () => {
  api = startApi({ accountKeys: new TokenKeys([{ pem: privateKey, from: 0 }]) });
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'sea' } });
});
afterAll(() => api.close());

test('who has the issuer’s keys can verify a token without asking', async () => {
  const found = await api.call('GET', '/.well-known/openid-configuration', undefined, { host: 'sea:6443' });
  expect(found.headers).toMatchObject({ 'cache-control': 'public, max-age=3600' });
  expect(found.body).toMatchObject({
    issuer: 'https://kubernetes.default.svc',
    jwks_uri: 'https://sea:6443/openid/v1/jwks',
    id_token_signing_alg_values_supported: ['ES256'],
  });
  const { headers, body } = await api.call('GET', '/openid/v1/jwks');
  expect(headers['content-type']).toBe('application/jwk-set+json');
  const [key] = body.keys;
  expect(key).toMatchObject({ use: 'sig', kty: 'EC', crv: 'P-256', alg: 'ES256' });

  const accounts = '/api/v1/namespaces/sea/serviceaccounts';
  await api.call('POST', accounts, { metadata: { name: 'robot' } });
  const { status, metadata } = (await api.call('POST', `${accounts}/robot/token`, { spec: {} })).body;
  expect(metadata.managedFields).toMatchObject([
    { subresource: 'token', fieldsV1: { 'f:spec': { 'f:expirationSeconds': {} } } },
  ]);
  const [head = '', claims = '', signature = ''] = (status.token as string).split('.');
  expect(JSON.parse(Buffer.from(head, 'base64url').toString()).kid).toBe(key.kid);
  const publicKey = createPublicKey({ key, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const how = { key: publicKey, dsaEncoding: 'ieee-p1363' as const };
  expect(verify('sha256', signed, how, Buffer.from(signature, 'base64url'))).toBe(true);
});

test.each([
  ['GET', '/openid/v1/jwks', 'application/json', 406],
  ['POST', '/openid/v1/jwks', '*/*', 405],
  ['GET', '/openid/v1', '*/*', 404],
])('%s %s as %s is answered %i', async (method, path, accept, status) => {
  expect((await api.call(method, path, undefined, { accept })).status).toBe(status);
});

test.each([
  '//',
  '//api',
  '//api/v1/namespaces',
  '//apis/apps',
  '/apis//',
  '/apis//apps',
  '/apis//apps/v1/deployments',
  '/healthz/',
  '/livez/ping/',
  '/livez/ping/x',
  '/readyz/',
  '/metrics/',
  '/openapi/v2/',
  '/..',
  '/./healthz',
  '/apis/./apps',
])('%s is no page', async (path) => {
  const { status, headers, body } = await api.call('GET', path);
  expect([status, headers['content-type'], body]).toEqual([
    404,
    'text/plain; charset=utf-8',
    '404 page not found\n',
  ]);
});

test.each([
  '/api//',
  '/api/v1//',
  '/apis/',
  '/apis/apps//',
  '/apis/apps/v1/',
  '/version//',
  '/api/v1/namespaces//',
  '/.well-known/openid-configuration/',
])('%s is what it is without slashes behind it', async (path) => {
  const bare = await api.call('GET', path.replace(/\/+$/, ''));
  expect(bare.status).toBe(200);
  expect(await api.call('GET', path)).toMatchObject({ status: 200, body: bare.body });
});

test('ComponentStatuses are made when asked for', async () => {
  const list = (await api.call('GET', '/api/v1/componentstatuses')).body;
  expect(list).toMatchObject({ kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {} });
  const names = list.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  expect(names).toEqual(['controller-manager', 'scheduler', 'etcd-0']);
  const one = (await api.call('GET', '/api/v1/componentstatuses/etcd-0')).body;
  expect(one.conditions).toEqual([{ type: 'Healthy', status: 'True', message: 'ok' }]);
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const query = 'fieldSelector=metadata.name%3Dscheduler';
  const { rows } = (await api.call('GET', `/api/v1/componentstatuses?${query}`, undefined, { accept: table }))
    .body;
  expect(rows.map(({ cells }: { cells: string[] }) => cells)).toEqual([['scheduler', 'Healthy', 'ok', '']]);
  expect((await api.call('GET', '/api/v1/componentstatuses/none')).status).toBe(404);
});

test('what is posted to a subresource in a namespace that is not there finds none', async () => {
  const path = '/api/v1/namespaces/none/serviceaccounts/robot/token';
  const { status, body } = await api.call('POST', path, { spec: {} });
  expect([status, body.message]).toEqual([404, 'namespaces "none" not found']);
});

test('the name that generateName makes brings no field of its own', async () => {
  const { metadata } = (
    await api.call('POST', '/api/v1/namespaces', { metadata: { generateName: 'sea-', labels: { a: 'b' } } })
  ).body;
  expect(metadata.labels).toEqual({ a: 'b', 'kubernetes.io/metadata.name': metadata.name });
  const labels = metadata.managedFields[0].fieldsV1['f:metadata']['f:labels'];
  expect(labels).not.toHaveProperty('f:kubernetes.io/metadata.name');
});

test('the log of a pod that no node has is empty', async () => {
  const pods = '/api/v1/namespaces/sea/pods';
  await api.call('POST', '/api/v1/namespaces/sea/serviceaccounts', { metadata: { name: 'default' } });
  const made = await api.call('POST', pods, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  expect(made.status).toBe(201);
  expect((await api.call('GET', `${pods}/p/log`)).status).toBe(204);
  expect((await api.call('GET', `${pods}/p/log?tailLines=-1`)).status).toBe(422);
});

const mirrors: [path: string, get: number, other: number][] = [
  ['/', 200, 200],
  ['/apis', 200, 200],
  ['/apis/apps', 200, 200],
  ['/apis/apps/', 200, 200],
  ['/apis/apps//', 200, 405],
  ['/apis/example.com//', 200, 200],
  ['/apis/nothing', 404, 404],
  ['/apis/apps/v1', 200, 405],
  ['/apis/apps/v1/', 200, 405],
  ['/apis/apps/v9', 404, 404],
  ['/apis/nothing/v1', 404, 404],
  ['/apis//v1', 404, 404],
  ['/apis/example.com', 200, 200],
  ['/apis/example.com/v1', 200, 200],
  ['/api', 200, 405],
  ['/api/', 200, 405],
  ['/api/v1', 200, 405],
  ['/api/v2', 404, 404],
  ['/version', 200, 405],
  ['/openapi/v2', 200, 200],
  ['/openapi/v3', 200, 200],
  ['/openapi/v3/apis/apps/v1', 200, 200],
];

test.each(mirrors)('%s is answered %i to GET and %i to other methods', async (path, get, other) => {
  await api.call('POST', definitions, thingsDefinition());
  const read = await api.call('GET', path);
  expect(read.status).toBe(get);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await api.call(method, path, {});
    expect([method, answer.status]).toEqual([method, other]);
    if (other !== 405) expect(answer.body).toEqual(read.body);
  }
  expect((await api.call('HEAD', path)).status).toBe(other);
});

test('a version that no definition serves is not found as a page', async () => {
  await api.call('POST', definitions, thingsDefinition());
  expect((await api.call('GET', '/apis/example.com/v9')).headers['content-type']).toContain('text/plain');
  expect((await api.call('GET', '/apis/apps/v9')).headers['content-type']).toContain('application/json');
});
