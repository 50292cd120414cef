import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
});
afterEach(() => world.stop());

const master: UserInfo = { name: 'admin', groups: ['system:masters'] };
const web = '/apis/apps/v1/namespaces/default/deployments/web';
const east = '/apis/atoll.dev/v1alpha1/physicalclusters/east';
const policies = '/apis/atoll.dev/v1alpha1/clusterplacementpolicies';

async function dryRun(path: string, patch: object, { user = master, method = 'PATCH' } = {}) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const { status, headers } = await world.transport(user)({
    method,
    url: `${path}?dryRun=All`,
    headers: { 'content-type': type },
    body: Buffer.from(JSON.stringify(patch)),
  });
  const warnings = [headers['warning'] ?? []].flat();
  return { status, plan: warnings.filter((text) => text.includes('plan: ')) };
}

const toWest = { metadata: { annotations: { 'atoll.dev/clusters': 'west' } } };

test('a dry run says what would move, and nothing does', async () => {
  expect(await dryRun(web, toWest)).toEqual({
    status: 200,
    plan: ['299 - "plan: default/deployments.apps/web moves from east to west: named by its annotation"'],
  });
  expect(await dryRun(east, { spec: { drain: true, unschedulable: true } })).toEqual({
    status: 200,
    plan: [expect.stringContaining('web is blocked on east: east: it is being drained')],
  });
  expect(await dryRun(web, { metadata: { labels: { a: 'b' } } })).toEqual({ status: 200, plan: [] });
  expect(await dryRun(web, { spec: { replicas: 3 } })).toEqual({ status: 200, plan: [] });
  expect(await dryRun(web, { metadata: { annotations: { 'atoll.dev/clusters': 'east', a: 'b' } } })).toEqual({
    status: 200,
    plan: [],
  });
  expect(await dryRun(web, { metadata: { annotations: { 'atoll.dev/clusters': ' east' } } })).toEqual({
    status: 200,
    plan: ['299 - "plan: nothing would be placed otherwise"'],
  });
  const free = { metadata: { annotations: { 'atoll.dev/clusters': null } } };
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'merge', free);
  const apart = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'ClusterPlacementPolicy',
    metadata: { name: 'apart' },
    spec: { clusters: { exclude: ['east'] } },
  };
  expect(await dryRun(policies, apart, { method: 'POST' })).toEqual({
    status: 201,
    plan: [expect.stringContaining('default/deployments.apps/web moves from east to west')],
  });
  const placement = await find(world.admin, resources.placements, 'web.deployments.apps');
  expect(placement?.spec).toMatchObject({ clusters: ['east'] });
});

test('a logical cluster is called by its path', async () => {
  const workspace = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'team-a' },
  };
  await world.admin.create(resources.workspaces, workspace);
  await until('it is ready', async () => {
    const { status } = await world.admin.get<KubeObject<unknown, { phase?: string }>>(resources.workspaces, {
      name: 'team-a',
    });
    return status?.phase === 'Ready';
  });
  const into = { cluster: 'root:team-a', namespace: 'default' };
  await world.admin.create(resources.deployments, deployment('api', 1, 'east'), into);
  await until(
    'it is placed',
    async () => (await world.admin.list(resources.placements, into)).items.length > 0,
  );
  expect((await dryRun(east, { spec: { drain: true, unschedulable: true } })).plan).toContainEqual(
    expect.stringContaining('plan: root:team-a/default/deployments.apps/api is blocked on east'),
  );
});

test('one is made at a time, and of two dry runs none fails', async () => {
  const both = await Promise.all([dryRun(web, toWest), dryRun(web, toWest)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(both.flatMap(({ plan }) => plan).sort()).toEqual([
    expect.stringContaining('plan: default/deployments.apps/web moves'),
    expect.stringContaining('plan: none was made: another is being made'),
  ]);
});

test('who may not everything is told no plan, which would be of what others have', async () => {
  await world.admin.create(
    { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'ann' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    },
  );
  const user = { name: 'ann', groups: ['system:authenticated'] };
  expect(await dryRun(web, { spec: { replicas: 3 } }, { user })).toEqual({ status: 200, plan: [] });
});

test('nor is an administrator of one logical cluster alone', async () => {
  const team = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'team' } };
  type Made = KubeObject<{ cluster?: string }, { phase?: string }>;
  await world.admin.create(resources.workspaces, team);
  const cluster = await until('team is ready', async () => {
    const { spec, status } = await world.admin.get<Made>(resources.workspaces, { name: 'team' });
    return status?.phase === 'Ready' ? spec?.cluster : undefined;
  });
  const there = { cluster, namespace: 'default' };
  await until('it has its namespace', () =>
    world.admin.get(resources.namespaces, { cluster, name: 'default' }).catch(() => false),
  );
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), there);
  const path = `/clusters/${cluster}${web}`;
  await until(
    'it is planned for who may everything',
    async () => (await dryRun(path, toWest)).plan.length === 1,
  );
  const user = { ...master, extra: { 'authentication.kcp.io/scopes': [`cluster:${cluster}`] } };
  expect(await dryRun(path, toWest, { user })).toEqual({ status: 200, plan: [] });
});
