import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import { newLogicalClusterId } from '../../../cluster/logical.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call } from '../apiserver/api.ts';

const { workspaces, serviceaccounts } = resources;
const accountName = 'system:serviceaccount:default:default';

let world: World;
let kubeconfig: string;
const ids = new Map<string, string>();
const tokens = new Map<string, string>();

beforeAll(async () => {
  world = await startWorld({ clusters: [] });
  kubeconfig = await readFile(await world.listen(), 'utf8');
  for (const name of ['a', 'b']) {
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
    await world.admin.create(workspaces, object);
    await until(`${name} is ready`, async () => {
      const { spec, status } = await world.admin.get<KubeObject<{ cluster?: string }, { phase?: string }>>(
        workspaces,
        { name },
      );
      ids.set(name, spec?.cluster ?? '');
      return status?.phase === 'Ready';
    });
    tokens.set(name, await tokenIn(`root:${name}`));
  }
  tokens.set('root', await tokenIn('root'));
});
afterAll(() => world.stop());

async function tokenIn(cluster: string): Promise<string> {
  const account = { cluster, namespace: 'default', name: 'default' };
  await until('there is an account', () =>
    world.admin.get(serviceaccounts, account).then(
      () => true,
      () => false,
    ),
  );
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: 'default', namespace: 'default' },
  };
  const made = await world.admin.create(serviceaccounts, request, { ...account, subresource: 'token' });
  return (made as KubeObject<unknown, { token: string }>).status?.token ?? '';
}

/** Over the network, with that token and nothing else. */
async function as(name: string): Promise<Transport> {
  const config = decodeYaml(kubeconfig).value as { users: { name: string; user: object }[] };
  const [user] = config.users;
  if (user) user.user = { token: tokens.get(name) };
  return await transportFromKubeconfig(encodeYaml(config));
}

const documents = ['/apis', '/api/v1', '/openapi/v2', '/openapi/v3', '/apis/apps/v1'];

test('a token counts in its own logical cluster, by path and by id, and in no other', async () => {
  const a = await as('a');
  const status = async (place: string, path: string) => (await call(a, 'GET', `${place}${path}`)).status;
  const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  for (const place of ['/clusters/root:a', `/clusters/${ids.get('a')}`]) {
    for (const path of [...documents, '/version'])
      expect([path, await status(place, path)]).toEqual([path, 200]);
    expect((await call(a, 'POST', `${place}${self}`, review)).body.status.userInfo.username).toBe(
      accountName,
    );
    expect(await status(place, '/api/v1/pods')).toBe(403);
  }
  // Where nothing is said it is its own: in-cluster configuration has no path.
  expect(await status('', '/version')).toBe(200);
  expect((await call(a, 'POST', self, review)).body.status.userInfo.extra).toMatchObject({
    'authentication.kcp.io/cluster-name': [ids.get('a')],
  });
  const others = ['/clusters/root', '/clusters/root:b', `/clusters/${ids.get('b')}`, '/clusters/*'];
  const nowhere = ['/clusters/root:nothing', `/clusters/${newLogicalClusterId()}`, '/clusters/root:a:b'];
  for (const place of [...others, ...nowhere]) {
    for (const path of [...documents, '/api/v1/pods', '/apis/tenancy.kcp.io/v1alpha1/workspaces']) {
      expect([place, path, await status(place, path)]).toEqual([place, path, 401]);
    }
  }
});

test("TokenReview knows the tokens of its own logical cluster's accounts only", async () => {
  const review = async (cluster: string, name: string) => {
    const spec = { token: tokens.get(name) };
    const object = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec };
    const ref = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' };
    const { status } = (await world.admin.create(ref, object, { cluster })) as KubeObject<
      unknown,
      { authenticated?: boolean; user?: { username?: string } }
    >;
    return status?.authenticated === true ? status.user?.username : undefined;
  };
  for (const [cluster, own] of [
    ['root', 'root'],
    ['root:a', 'a'],
    ['root:b', 'b'],
  ] as const) {
    for (const name of tokens.keys()) {
      expect([cluster, name, await review(cluster, name)]).toEqual([
        cluster,
        name,
        name === own ? accountName : undefined,
      ]);
    }
  }
});

test('who is no master sees the documents of no other logical cluster, nor of all', async () => {
  const get = async (place: string, path: string, groups: string[], extra = {}) =>
    (await call(world.server.transport({ name: 'u', groups, extra }), 'GET', `${place}${path}`)).status;
  const known = ['system:authenticated'];
  const ofA = { 'authentication.kcp.io/cluster-name': [ids.get('a') ?? ''] };
  for (const path of [...documents, '/version', '/']) {
    expect([path, await get('/clusters/root:b', path, known, ofA)]).toEqual([path, 403]);
    expect([path, await get('/clusters/*', path, known, ofA)]).toEqual([path, 403]);
    expect([path, await get('/clusters/root:b', path, known)]).toEqual([path, 403]);
    expect([path, await get('/clusters/root:nothing', path, known)]).toEqual([path, 403]);
    expect([path, await get('/clusters/*', path, ['system:masters'])]).toEqual([path, 200]);
  }
  expect(await get('', '/apis', known)).toBe(200);
});

test('an impersonated user is one of the logical cluster where that happened', async () => {
  const admin = world.server.transport({ name: 'admin', groups: ['system:masters'] });
  const who = async (place: string) => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const url = `${place}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
    return (await call(admin, 'POST', url, review, { 'impersonate-user': 'eve' })).body.status.userInfo;
  };
  expect(await who('')).toMatchObject({ username: 'eve' });
  expect((await who('')).extra).toBeUndefined();
  expect((await who('/clusters/root:a')).extra).toEqual({
    'authentication.kcp.io/scopes': [`cluster:${ids.get('a')}`],
  });
});

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const secretType = 'kubernetes.io/service-account-token';
type TokenSecret = KubeObject & { data?: Record<string, string> };

async function secretOf(cluster: string, name: string, account: string): Promise<TokenSecret> {
  const annotations = { 'kubernetes.io/service-account.name': account };
  const metadata = { name, namespace: 'default', annotations };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: secretType };
  await world.admin.create(core('secrets'), secret, { cluster });
  const at = { cluster, namespace: 'default', name };
  await until('it has a token', async () => {
    const found = await world.admin.get<TokenSecret>(core('secrets'), at);
    return found.data?.['token'] !== undefined;
  });
  return await world.admin.get<TokenSecret>(core('secrets'), at);
}

const plain = (of: TokenSecret, key: string) => Buffer.from(of.data?.[key] ?? '', 'base64').toString();

test('a Secret of an account gets its token, which counts there while both are there', async () => {
  const cluster = 'root:a';
  const at = { cluster, namespace: 'default' };
  const robot = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace: 'default' },
  };
  await world.admin.create(serviceaccounts, robot, { cluster });
  const first = await secretOf(cluster, 'first', 'robot');
  const second = await secretOf(cluster, 'second', 'robot');
  expect(plain(first, 'namespace')).toBe('default');
  expect(plain(first, 'ca.crt')).toContain('BEGIN CERTIFICATE');
  tokens.set('first', plain(first, 'token'));
  tokens.set('second', plain(second, 'token'));
  const status = async (name: string, place: string) =>
    (await call(await as(name), 'GET', `${place}/version`)).status;
  for (const name of ['first', 'second']) {
    expect(await status(name, '/clusters/root:a')).toBe(200);
    expect(await status(name, '')).toBe(200);
    for (const place of ['/clusters/root', '/clusters/root:b', '/clusters/*'])
      expect(await status(name, place)).toBe(401);
  }
  await until('its use is noted', async () => {
    const { metadata } = await world.admin.get(core('secrets'), { ...at, name: 'first' });
    return metadata.labels?.['kubernetes.io/legacy-token-last-used'] !== undefined;
  });
  await world.admin.delete(core('secrets'), { ...at, name: 'first' });
  expect(await status('first', '/clusters/root:a')).toBe(401);
  expect(await status('second', '/clusters/root:a')).toBe(200);
  // What is in the Secret is what counts.
  const data = { token: Buffer.from('other').toString('base64') };
  await world.admin.patch(core('secrets'), { ...at, name: 'second' }, 'merge', { data });
  expect(await status('second', '/clusters/root:a')).toBe(401);
  await world.admin.patch(core('secrets'), { ...at, name: 'second' }, 'merge', { data: second.data ?? {} });
  expect(await status('second', '/clusters/root:a')).toBe(200);
  const labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' };
  await world.admin.patch(core('secrets'), { ...at, name: 'second' }, 'merge', { metadata: { labels } });
  expect(await status('second', '/clusters/root:a')).toBe(401);
  await world.admin.delete(serviceaccounts, { ...at, name: 'robot' });
  await until('the Secret goes with the account', async () => {
    const { items } = await world.admin.list(core('secrets'), at);
    return items.every(({ metadata }) => metadata.name !== 'second');
  });
});

test('a Secret of no account goes; one that names none is refused', async () => {
  const at = { cluster: 'root:a', namespace: 'default' };
  const metadata = { name: 'orphan', namespace: 'default' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: secretType };
  const refused = world.admin.create(core('secrets'), secret, { cluster: 'root:a' });
  await expect(refused).rejects.toMatchObject({ code: 422 });
  const annotations = { 'kubernetes.io/service-account.name': 'nobody' };
  await world.admin.create(core('secrets'), { ...secret, metadata: { ...metadata, annotations } }, at);
  await until('it goes', async () => {
    const { items } = await world.admin.list(core('secrets'), at);
    return items.every(({ metadata: { name } }) => name !== 'orphan');
  });
});

test('each logical cluster has an issuer, whose documents are for everybody who knows its id', async () => {
  const config = decodeYaml(kubeconfig).value as { users: { user: object }[] };
  for (const one of config.users) one.user = {};
  const nobody = await transportFromKubeconfig(encodeYaml(config));
  const get = (url: string) => call(nobody, 'GET', url);
  const issuers = new Set<string>();
  for (const name of ['root', 'a', 'b']) {
    const place = name === 'root' ? '' : `/clusters/${ids.get(name)}`;
    const { status, body } = await get(`${place}/.well-known/openid-configuration`);
    expect([name, status]).toEqual([name, 200]);
    expect(new URL(body.jwks_uri).pathname).toBe(`${place}/openid/v1/jwks`);
    const [, claims = ''] = (tokens.get(name) ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).iss).toBe(body.issuer);
    expect((await get(`${place}/openid/v1/jwks`)).body.keys).toHaveLength(1);
    issuers.add(body.issuer);
  }
  expect(issuers.size).toBe(3);
  for (const url of [
    '/clusters/root:a/openid/v1/jwks',
    '/clusters/*/openid/v1/jwks',
    `/clusters/${ids.get('a')}/version`,
    `/clusters/${ids.get('a')}/openid/v1/jwks/`,
    `/clusters/${ids.get('a')}/openid/v1/../../api`,
  ]) {
    expect([url, (await get(url)).status]).toEqual([url, 401]);
  }
  expect((await get(`/clusters/${newLogicalClusterId()}/openid/v1/jwks`)).status).toBe(404);
});

test('keys are rotated: another signs, the former verify until they are dropped', async () => {
  const path = '/service-account-keys';
  const admin = world.server.transport({ name: 'admin', groups: ['system:masters'] });
  const keys = async (method: string, query = '') => await call(admin, method, `${path}${query}`);
  const works = async (name: string) => (await call(await as(name), 'GET', '/version')).status === 200;
  expect((await call(world.server.transport({ name: 'u', groups: [] }), 'GET', path)).status).toBe(403);
  const [{ kid: former, ...first }] = (await keys('GET')).body.keys;
  expect(first).toEqual({ signs: true });
  const refused = async (kid: string) => (await keys('DELETE', `?kid=${kid}`)).body.message;
  expect(await refused(former)).toBe(`no key is newer than ${former}: atoll token-keys rotate makes one`);
  const [, later] = (await keys('POST')).body.keys;
  expect(later).toMatchObject({ signs: false });
  expect(await refused(former)).toBe(
    `no newer key than ${former} signs yet: one does from ${later.signsSince}`,
  );
  const made = (await keys('POST', '?now=true')).body.keys.find(({ signs }: { signs: boolean }) => signs);
  const kidOf = async () => {
    tokens.set('next', await tokenIn('root'));
    const [head = ''] = (tokens.get('next') ?? '').split('.');
    return JSON.parse(Buffer.from(head, 'base64url').toString()).kid;
  };
  await until('it signs', async () => (await kidOf()) === made.kid);
  expect([await works('root'), await works('next')]).toEqual([true, true]);
  expect((await keys('DELETE', `?kid=${made.kid}`)).status).toBe(400);
  expect((await keys('DELETE', `?kid=${former}`)).body.keys).toHaveLength(2);
  await until('the former is refused', async () => {
    await tokenIn('root');
    return !(await works('root'));
  });
  expect(await works('next')).toBe(true);
});
