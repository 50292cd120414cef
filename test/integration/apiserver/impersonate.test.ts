import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, call, startApi } from './api.ts';

let api: Api;
beforeAll(() => {
  api = startApi();
});
afterAll(() => api.close());

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const as = (headers: Record<string, string>) => api.call('POST', review, body, headers);

test('an administrator is taken for whom they name', async () => {
  const { body: said } = await as({
    'impersonate-user': 'bob',
    'impersonate-group': 'dev',
    'impersonate-uid': '7',
    'impersonate-extra-example.com%2fteam': 'blue',
  });
  expect(said.status.userInfo).toEqual({
    username: 'bob',
    uid: '7',
    groups: ['dev', 'system:authenticated'],
    extra: { 'example.com/team': ['blue'] },
  });
});

test('and may do no more than they may', async () => {
  const { status, body: said } = await api.call('GET', '/api/v1/pods', undefined, {
    'impersonate-user': 'bob',
  });
  expect([status, said.message]).toEqual([
    403,
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope',
  ]);
});

test('a ServiceAccount comes with its groups', async () => {
  const { body: said } = await as({ 'impersonate-user': 'system:serviceaccount:default:robot' });
  expect(said.status.userInfo.groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
});

test('who may not impersonate is refused', async () => {
  const nobody = api.server.transport({ name: 'eve', groups: ['system:authenticated'] });
  const { status, body: said } = await call(nobody, 'POST', review, body, { 'impersonate-user': 'admin' });
  expect([status, said.message]).toEqual([
    403,
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "eve" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  ]);
});

test('who may impersonate somebody for some requests is taken for them in those alone', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['users'],
      resourceNames: ['jane'],
      verbs: ['impersonate:user-info'],
    },
    { apiGroups: [''], resources: ['pods'], verbs: ['impersonate-on:user-info:list'] },
  ];
  const bind = (name: string, role: string) =>
    api.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    });
  expect(
    (await api.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'proxy' }, rules })).status,
  ).toBe(201);
  expect((await bind('agent', 'proxy')).status).toBe(201);
  expect((await bind('jane', 'cluster-admin')).status).toBe(201);
  const agent = api.server.transport({ name: 'agent', groups: ['system:authenticated'] });
  const asked = async (method: string, path: string, user: string, more = {}) => {
    const answer = await call(agent, method, path, undefined, { 'impersonate-user': user, ...more });
    return [answer.status, answer.body.message];
  };
  expect(await asked('GET', '/api/v1/pods', 'jane')).toEqual([200, undefined]);
  expect(await asked('GET', '/api/v1/nodes', 'jane')).toEqual([
    403,
    'nodes is forbidden: User "agent" cannot impersonate-on:user-info:list resource "nodes" in API group "" at the cluster scope',
  ]);
  expect(await asked('GET', '/api/v1/pods', 'bob')).toEqual([
    403,
    'users.authentication.k8s.io "bob" is forbidden: User "agent" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
  ]);
  expect(await asked('GET', '/api/v1/pods', 'jane', { 'impersonate-group': 'g' })).toEqual([
    403,
    'groups.authentication.k8s.io "g" is forbidden: User "agent" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope',
  ]);
});

test('an account is taken for its node in its own logical cluster alone, whatever account of its name is where it asks', async () => {
  const [mine, other] = [await api.addCluster('root:mine'), await api.addCluster('root:other')];
  const rbac = `/clusters/${other}/apis/rbac.authorization.k8s.io/v1`;
  const rules = [
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['nodes'],
      verbs: ['impersonate:associated-node'],
    },
    { apiGroups: [''], resources: ['pods'], verbs: ['impersonate-on:associated-node:list'] },
  ];
  const apiGroup = 'rbac.authorization.k8s.io';
  const bind = async (name: string, role: string, subject: object) => {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: role };
    const binding = { metadata: { name }, roleRef, subjects: [subject] };
    expect((await api.call('POST', `${rbac}/clusterrolebindings`, binding)).status).toBe(201);
  };
  const role = { metadata: { name: 'agent' }, rules };
  expect((await api.call('POST', `${rbac}/clusterroles`, role)).status).toBe(201);
  await bind('agent', 'agent', { kind: 'ServiceAccount', namespace: 'default', name: 'agent' });
  await bind('node', 'view', { apiGroup, kind: 'User', name: 'system:node:n1' });
  const list = async (home: string) => {
    const agent = api.server.transport({
      name: 'system:serviceaccount:default:agent',
      groups: ['system:serviceaccounts', 'system:authenticated'],
      extra: {
        'authentication.kcp.io/cluster-name': [home],
        'authentication.kubernetes.io/node-name': ['n1'],
      },
    });
    const headers = { 'impersonate-user': 'system:node:n1' };
    return (await call(agent, 'GET', `/clusters/${other}/api/v1/pods`, undefined, headers)).status;
  };
  expect([await list(other), await list(mine)]).toEqual([200, 403]);
});

test('a group alone is nobody', async () => {
  expect((await as({ 'impersonate-group': 'system:masters' })).status).toBe(400);
});

test('headers that say nothing ask for nothing', async () => {
  const { body: mine } = await as({});
  expect((await as({ 'impersonate-user': '' })).body.status.userInfo).toEqual(mine.status.userInfo);
});

test('who is impersonated as not authenticated is not', async () => {
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' };
  const { status, body: said } = await as(headers);
  expect([status, said.message]).toEqual([403, expect.stringContaining('User "bob" cannot create')]);
});

test('a header that came twice is two groups, one with a comma or an umlaut is one', async () => {
  const groups = ['CN=dev, OU=b', 'ops', 'Köln'];
  const sent = groups.map((one) => Buffer.from(one).toString('latin1'));
  const answer = await api.server.transport({ name: 'root', groups: ['system:masters'] })({
    method: 'POST',
    url: review,
    headers: {
      'content-type': 'application/json',
      'impersonate-user': 'bob',
      'impersonate-group': sent.join(', '),
    },
    distinct: { 'impersonate-user': ['bob'], 'impersonate-group': sent },
    body: Buffer.from(JSON.stringify(body)),
  });
  const said = JSON.parse(Buffer.from(answer.body as Uint8Array).toString());
  expect(said.status.userInfo.groups).toEqual([...groups, 'system:authenticated']);
});
