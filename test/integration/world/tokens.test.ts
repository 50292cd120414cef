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
  const others = ['', '/clusters/root', '/clusters/root:b', `/clusters/${ids.get('b')}`, '/clusters/*'];
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
