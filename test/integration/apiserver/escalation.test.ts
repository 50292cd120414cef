import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, startApi } from './api.ts';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const inDefault = `${rbac}/namespaces/default`;
const lead: UserInfo = { name: 'lead', groups: ['system:authenticated'] };
const subject = { kind: 'User', apiGroup: group, name: 'lead' };

let api: Api;
beforeAll(async () => {
  api = startApi();
  const verbs = ['create', 'get', 'update', 'patch'];
  const all = { apiGroups: [group], resources: ['*'], verbs };
  const rules = [all, { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
  await api.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'lead' }, rules });
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'lead' };
  await api.call('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'lead' },
    roleRef,
    subjects: [subject],
  });
  await api.call('POST', `${inDefault}/roles`, { metadata: { name: 'mine' }, rules: [] });
  await api.call('POST', `${inDefault}/roles`, { metadata: { name: 'wide' }, rules: wide });
});
afterAll(() => api.close());

const held = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const wide = [{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['get', 'delete'] }];
const ask = (method: string, url: string, body?: object, headers: Record<string, string> = {}) =>
  call(api.server.transport(lead), method, url, body, headers);

const words = `user "lead" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}`;

const apply = { 'content-type': 'application/apply-patch+yaml' };
const applied = (name: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Role',
  metadata: { name },
  rules: wide,
});
const object = (name: string, rules: object[]) => ({ metadata: { name }, rules });

describe('nobody grants what they have not', () => {
  test.each<[string, string, string, object, Record<string, string>?]>([
    ['create', 'POST', '/roles', object('new', wide)],
    ['dry run', 'POST', '/roles?dryRun=All', object('new', wide)],
    ['update', 'PUT', '/roles/mine', object('mine', wide)],
    ['update that creates', 'PUT', '/roles/new', object('new', wide)],
    ['patch', 'PATCH', '/roles/mine', { rules: wide }],
    ['patch, dry', 'PATCH', '/roles/mine?dryRun=All', { rules: wide }],
    ['apply', 'PATCH', '/roles/mine?fieldManager=m&force=true', applied('mine'), apply],
    ['apply that creates', 'PATCH', '/roles/new?fieldManager=m', applied('new'), apply],
  ])('%s', async (_, method, path, body, headers = {}) => {
    const name = path.includes('mine') ? 'mine' : 'new';
    const { status, body: said } = await ask(method, `${inDefault}${path}`, body, headers);
    expect([status, said.message]).toEqual([403, `roles.${group} "${name}" is forbidden: ${words}`]);
  });

  test('what they have, they may', async () => {
    expect((await ask('POST', `${inDefault}/roles`, object('ok', held))).status).toBe(201);
    expect((await ask('PATCH', `${inDefault}/roles/mine`, { rules: held })).status).toBe(200);
    // What the collector writes grants nothing.
    const finalizers = ['example.com/x'];
    expect((await ask('PATCH', `${inDefault}/roles/wide`, { metadata: { finalizers } })).status).toBe(200);
  });

  // A billion pieces, in a body of a few kilobytes.
  test('what comes to too many combinations is refused before they are counted out', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `x${i}`);
    const rules = [{ apiGroups: many, resources: many, verbs: many }];
    const { status, body: said } = await ask('POST', `${inDefault}/roles`, object('bomb', rules));
    expect([status, said.message]).toEqual([
      403,
      `roles.${group} "bomb" is forbidden: its rules come to more than 50000 combinations of verb and resource, which only who may escalate may grant`,
    ]);
  });

  test.each<[string, string, string, number, RegExp]>([
    ['', 'Role', 'mine', 201, /^$/],
    ['', 'Role', 'wide', 403, /attempting to grant RBAC permissions not currently held/],
    ['', 'ClusterRole', 'cluster-admin', 403, /{APIGroups:\["\*"], Resources:\["\*"], Verbs:\["\*"]}/],
    ['', 'Role', 'gone', 404, /^rolebindings\.rbac\.authorization\.k8s\.io "gone" not found$/],
    ['cluster', 'ClusterRole', 'edit', 403, /permissions not currently held/],
    ['cluster', 'Role', 'mine', 400, /^Namespace parameter required\.$/],
  ])('%sbinding to %s %s: %i', async (wideness, kind, name, code, message) => {
    const at = wideness === '' ? `${inDefault}/rolebindings` : `${rbac}/clusterrolebindings`;
    const roleRef = { apiGroup: group, kind, name };
    const { status, body } = await ask('POST', at, {
      metadata: { name: `to-${name}` },
      roleRef,
      subjects: [subject],
    });
    expect([status, body.message ?? '']).toEqual([code, expect.stringMatching(message)]);
  });

  test('a rule that gathers others takes an administrator', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const { status, body } = await ask('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'all' },
      aggregationRule,
    });
    expect([status, body.message]).toEqual([
      403,
      `clusterroles.${group} "all" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    ]);
  });
});

test('the administrator of one logical cluster becomes none of all', async () => {
  const id = await api.addCluster('root:given');
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' };
  const body = { metadata: { name: 'given' }, roleRef, subjects: [subject] };
  expect((await api.call('POST', `/clusters/${id}${rbac}/clusterrolebindings`, body)).status).toBe(201);
  const nodes = `/clusters/${id}/api/v1/nodes`;
  const get = (url: string, headers: Record<string, string>) => ask('GET', url, undefined, headers);
  expect((await get(nodes, {})).status).toBe(200);
  expect((await get(nodes, { 'impersonate-user': 'x', 'impersonate-group': 'y' })).status).toBe(403);
  const refused = await get(nodes, { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' });
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'groups.authentication.k8s.io "system:masters" is forbidden: User "lead" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
  ]);
  expect((await get(nodes, { 'impersonate-user': 'system:atoll:controllers' })).status).toBe(403);
  for (const cluster of ['root', '*']) {
    const there = await get(`/clusters/${cluster}/api/v1/nodes`, { 'impersonate-user': 'lead' });
    expect([cluster, there.status]).toEqual([cluster, 403]);
  }
});

test('reviews answer as the roles do, and why', async () => {
  const reviews = '/apis/authorization.k8s.io/v1';
  const may = async (resource: string) => {
    const spec = { resourceAttributes: { verb: 'list', resource, namespace: 'default' } };
    return (await ask('POST', `${reviews}/selfsubjectaccessreviews`, { spec })).body.status;
  };
  const reason = 'RBAC: allowed by ClusterRoleBinding "lead" of ClusterRole "lead" to User "lead"';
  expect([await may('pods'), await may('secrets')]).toEqual([{ allowed: true, reason }, { allowed: false }]);
  const account = 'system:serviceaccount:default:robot';
  const spec = {
    user: account,
    groups: ['system:authenticated'],
    nonResourceAttributes: { verb: 'get', path: '/api' },
  };
  const { body } = await api.call('POST', `${reviews}/subjectaccessreviews`, { spec });
  expect(body.status.allowed).toBe(true);
  const { body: rules } = await ask('POST', `${reviews}/selfsubjectrulesreviews`, {
    spec: { namespace: 'default' },
  });
  expect(rules.status.resourceRules).toContainEqual({
    apiGroups: [''],
    resources: ['pods'],
    verbs: ['get', 'list'],
  });
  expect(rules.status.incomplete).toBe(false);
});

test('who may get one object may watch it by its name', async () => {
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'], resourceNames: ['one'] },
  ];
  await api.call('POST', `${inDefault}/roles`, object('one', rules));
  const roleRef = { apiGroup: group, kind: 'Role', name: 'one' };
  await api.call('POST', `${inDefault}/rolebindings`, {
    metadata: { name: 'one' },
    roleRef,
    subjects: [subject],
  });
  const maps = '/api/v1/namespaces/default/configmaps';
  const list = async (selector: string) => (await ask('GET', `${maps}?fieldSelector=${selector}`)).status;
  const asked = [
    'metadata.name%3Done',
    'metadata.name%3Dtwo',
    'metadata.name!%3Done',
    'metadata.namespace%3Done',
    '',
  ];
  expect(await Promise.all(asked.map(list))).toEqual([200, 403, 403, 403, 403]);
});
