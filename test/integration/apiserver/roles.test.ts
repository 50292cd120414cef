import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { type Answer, type Api, call, configMap, startApi, take, watch } from './api.ts';

let store: Store;
let api: Api;
let other: Api;
beforeEach(() => {
  store = openMemory();
  [api, other] = [startApi({ store }), startApi({ store })];
});
afterEach(() => Promise.all([api.close(), other.close()]));

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const inDefault = `${rbac}/namespaces/default`;
const maps = '/api/v1/namespaces/default/configmaps';
const group = 'rbac.authorization.k8s.io';

const dev: UserInfo = { name: 'dev', groups: ['team', 'system:authenticated'] };
const ask = (who: UserInfo, method: string, url: string, body?: unknown, at = api) =>
  call(at.server.transport(who), method, url, body);
const status = async (...what: Parameters<typeof ask>) => (await ask(...what)).status;

const rule = (resources: string[], ...verbs: string[]) => ({ apiGroups: [''], resources, verbs });
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: roleName },
  subjects,
});
const user = (name: string) => ({ kind: 'User', apiGroup: group, name });

/** Makes all of it, as the administrator. */
async function give(prefix: string, ...objects: [string, object][]): Promise<void> {
  for (const [path, object] of objects) {
    const made = await api.call('POST', `${prefix}${path}`, object);
    expect([made.status, made.body.message]).toEqual([201, undefined]);
  }
}

const developer: [string, object][] = [
  [`${inDefault}/roles`, role('developer', rule(['configmaps'], 'get', 'list', 'watch', 'create'))],
  [`${inDefault}/rolebindings`, binding('dev', 'Role', 'developer', user('dev'))],
];

describe('a developer with a Role in one namespace', () => {
  test('may do what it says, and nothing else', async () => {
    await give('', ...developer);
    const refused = await ask(dev, 'DELETE', `${maps}/a`);
    expect([await status(dev, 'POST', maps, configMap('a')), await status(dev, 'GET', maps)]).toEqual([
      201, 200,
    ]);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'configmaps "a" is forbidden: User "dev" cannot delete resource "configmaps" in API group "" in the namespace "default"',
    ]);
    const others: [string, string, object?][] = [
      ['PUT', `${maps}/a`, configMap('a')],
      ['PATCH', `${maps}/a`, {}],
      ['DELETE', maps],
      ['GET', '/api/v1/configmaps'],
      ['GET', '/api/v1/namespaces/kube-system/configmaps'],
      ['GET', '/api/v1/namespaces/default/secrets'],
      [
        'GET',
        '/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Da'.replace(
          'configmaps',
          'pods',
        ),
      ],
      ['GET', `${inDefault}/roles`],
      ['GET', '/api/v1/namespaces'],
      ['GET', '/clusters/*/api/v1/configmaps'],
      ['GET', '/metrics'],
    ];
    for (const what of others) expect([what, await status(dev, ...what)]).toEqual([what, 403]);
    expect(await status(dev, 'GET', '/apis')).toBe(200);
  });

  test('is nobody in another logical cluster, and in none that is not there', async () => {
    await api.addCluster('root:a');
    await api.addCluster('root:b');
    await give('/clusters/root:a', ...developer);
    const paths = [maps, '/apis', '/api/v1', '/version', '/openapi/v3'];
    const seen = async (cluster: string) =>
      Promise.all(paths.map((path) => status(dev, 'GET', `/clusters/${cluster}${path}`)));
    expect(await seen('root:a')).toEqual([200, 200, 200, 200, 200]);
    for (const cluster of ['root:b', 'root:none', '0123456789abcdef', '*'])
      expect([cluster, await seen(cluster)]).toEqual([cluster, [403, 403, 403, 403, 403]]);
    expect(await status(dev, 'GET', maps)).toBe(403);
  });

  test('is refused from the next request on when it is taken away, on every server', async () => {
    await give('', ...developer);
    const events = watch(api.server.transport(dev), `${maps}?watch=1`);
    const first = take(events, 1);
    await eventually(async () => expect(await status(dev, 'GET', maps, undefined, other)).toBe(200));
    await api.call('POST', maps, configMap('a'));
    expect((await first)[0]?.object.metadata.name).toBe('a');
    await events.return(undefined);
    await api.call('DELETE', `${inDefault}/rolebindings/dev`);
    expect(await status(dev, 'GET', maps)).toBe(403);
    await eventually(async () => expect(await status(dev, 'GET', maps, undefined, other)).toBe(403));
  });

  test('is refused when the role loses the rule, or all bindings go at once', async () => {
    await give('', ...developer);
    await api.call('PATCH', `${inDefault}/roles/developer`, { rules: [rule(['configmaps'], 'list')] });
    expect([await status(dev, 'GET', maps), await status(dev, 'GET', `${maps}/x`)]).toEqual([200, 403]);
    await api.call('DELETE', `${inDefault}/rolebindings`);
    expect(await status(dev, 'GET', maps)).toBe(403);
  });
});

test('a server that starts later knows what was given', async () => {
  await give('', ...developer);
  const later = startApi({ store });
  expect(await status(dev, 'GET', maps, undefined, later)).toBe(200);
  await later.server.close();
});

describe('the defaults', () => {
  const count = async (url: string) => (await api.call('GET', url)).body.items.length;

  test('are there for whoever looks, and no object before', async () => {
    await api.addCluster('root:a');
    const at = '/clusters/root:a';
    await give(at, ...developer);
    expect(await status(dev, 'GET', `${at}/apis`)).toBe(200);
    const keys = async () => (await store.list({ start: `/${group}/`, end: `/${group}0` })).entries.length;
    expect(await keys()).toBe(2);
    expect((await api.call('GET', `${at}${rbac}/clusterroles/mine`)).status).toBe(404);
    expect(await keys()).toBe(2);
    expect((await api.call('GET', `${at}${rbac}/clusterroles/view`)).body.rules).toHaveLength(12);
    expect(await count(`${at}${rbac}/clusterroles`)).toBe(69);
    expect(await count(`${at}${rbac}/clusterrolebindings`)).toBe(50);
    expect(await count(`${rbac}/clusterroles`)).toBe(69);
  });

  test('stay deleted, count as they are changed, and have their names', async () => {
    const taken = await api.call('POST', `${rbac}/clusterroles`, role('view'));
    expect([taken.status, taken.body.reason]).toEqual([409, 'AlreadyExists']);
    const url = `${rbac}/clusterrolebindings/system:discovery`;
    await give('', ...developer);
    expect(await status(dev, 'GET', '/apis')).toBe(200);
    await api.call('PATCH', url, { subjects: [] });
    expect(await status(dev, 'GET', '/apis')).toBe(403);
    await api.call('DELETE', url);
    expect([(await api.call('GET', url)).status, (await other.call('GET', url)).status]).toEqual([404, 404]);
    await eventually(async () => expect(await status(dev, 'GET', '/apis', undefined, other)).toBe(403));
    const later = startApi({ store });
    expect((await later.call('GET', url)).status).toBe(404);
    expect(await status(dev, 'GET', '/apis', undefined, later)).toBe(403);
    await later.server.close();
  });

  test('give what they are edited to give, in a logical cluster where somebody is nobody else', async () => {
    const at = `/clusters/${await api.addCluster('root:a')}`;
    const bindings = `${at}${rbac}/clusterrolebindings`;
    const admin = [{ kind: 'Group', apiGroup: group, name: 'system:masters' }];
    expect(await status(dev, 'GET', `${at}${maps}`)).toBe(403);
    await api.call('PATCH', `${bindings}/cluster-admin`, { subjects: [...admin, user('dev')] });
    expect(await status(dev, 'GET', `${at}${maps}`)).toBe(200);
    await api.call('PATCH', `${bindings}/cluster-admin`, { subjects: admin });
    expect(await status(dev, 'GET', `${at}${maps}`)).toBe(403);
    await api.call('DELETE', `${bindings}/cluster-admin`);
    await give(at, [
      `${rbac}/clusterrolebindings`,
      binding('cluster-admin', 'ClusterRole', 'cluster-admin', user('dev')),
    ]);
    expect(await status(dev, 'GET', `${at}${maps}`)).toBe(200);
  });

  test('of two servers that are asked at once are the same', async () => {
    const lists = await Promise.all([api, other].map((at) => at.call('GET', `${rbac}/clusterroles`)));
    const uids = lists.map(({ body }) => body.items.map(({ metadata }: Answer) => metadata.uid));
    expect([uids[0].length, uids[1]]).toEqual([69, uids[0]]);
  });

  test('are watched like anything', async () => {
    const events = watch(
      api.server.transport({ name: 'admin', groups: ['system:masters'] }),
      `${rbac}/clusterroles?watch=1`,
    );
    const seen = await take(events, 69);
    await events.return(undefined);
    expect(new Set(seen.map(({ type }) => type))).toEqual(new Set(['ADDED']));
  });
});

describe('aggregation', () => {
  const edits = async (at = '') => (await api.call('GET', `${at}${rbac}/clusterroles/edit`)).body.rules;
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' };
  const things = { apiGroups: ['example.com'], resources: ['things'], verbs: ['create'] };

  test('adds what an operator brings to edit and admin, and takes it back', async () => {
    await give('', [`${rbac}/clusterroles`, { metadata: { name: 'things', labels }, rules: [things] }]);
    expect(await edits()).toContainEqual(things);
    const admin = (await api.call('GET', `${rbac}/clusterroles/admin`)).body;
    expect(admin.rules).toContainEqual(things);
    expect((await api.call('GET', `${rbac}/clusterroles/view`)).body.rules).not.toContainEqual(things);
    await give('', [`${inDefault}/rolebindings`, binding('e', 'ClusterRole', 'edit', user('dev'))]);
    const url = '/apis/example.com/v1/namespaces/default/things';
    expect(await status(dev, 'POST', url, {})).toBe(404);
    await api.call('DELETE', `${rbac}/clusterroles/things`);
    expect(await edits()).not.toContainEqual(things);
    expect(await status(dev, 'POST', url, {})).toBe(403);
  });

  test('undoes what is written into an aggregated role, as one of another manager', async () => {
    await api.call('PATCH', `${rbac}/clusterroles/view`, { rules: [] });
    const { body } = await api.call('GET', `${rbac}/clusterroles/view`);
    expect(body.rules).toHaveLength(12);
    expect(body.metadata.managedFields[0].manager).toBe('clusterrole-aggregation-controller');
  });

  test('reaches all that gather a role, and those that gather these', async () => {
    const selecting = (part: string) => ({ clusterRoleSelectors: [{ matchLabels: { [part]: 'yes' } }] });
    const names = Array.from({ length: 30 }, (_, i) => `whole-${i}`);
    await give(
      '',
      [`${rbac}/clusterroles`, { metadata: { name: 'a-last' }, aggregationRule: selecting('whole') }],
      ...names.map((name): [string, object] => [
        `${rbac}/clusterroles`,
        { metadata: { name, labels: { whole: 'yes' } }, aggregationRule: selecting('some') },
      ]),
      [`${rbac}/clusterroles`, { metadata: { name: 'some', labels: { some: 'yes' } }, rules: [things] }],
    );
    const rules = async (name: string) => (await api.call('GET', `${rbac}/clusterroles/${name}`)).body.rules;
    for (const name of [...names, 'a-last']) expect([name, await rules(name)]).toEqual([name, [things]]);
    const version = async () =>
      (await api.call('GET', `${rbac}/clusterroles/a-last`)).body.metadata.resourceVersion;
    const before = await version();
    await api.call('PATCH', `${rbac}/clusterroles/some`, { metadata: { annotations: { a: 'b' } } });
    expect(await version()).toBe(before);
  });

  test('follows roles of one’s own, on two servers at once', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] };
    await give('', [
      `${rbac}/clusterroles`,
      { metadata: { name: 'whole' }, aggregationRule, rules: [things] },
    ]);
    expect((await api.call('GET', `${rbac}/clusterroles/whole`)).body.rules).toEqual([things]);
    const parts = Array.from({ length: 12 }, (_, i) => ({
      metadata: { name: `part-${i}`, labels: { part: 'yes' } },
      rules: [rule([`r${i}`], 'get')],
    }));
    await Promise.all(
      parts.map((part, i) => (i % 2 ? api : other).call('POST', `${rbac}/clusterroles`, part)),
    );
    expect((await api.call('GET', `${rbac}/clusterroles/whole`)).body.rules).toHaveLength(12);
  });
});
