import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownerAnnotation } from '../../../cluster/names.ts';
import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call } from '../apiserver/api.ts';

const { workspaces } = resources;
const rbac = 'rbac.authorization.k8s.io';
const bindings = { group: rbac, version: 'v1', resource: 'clusterrolebindings' };
const roles = { group: rbac, version: 'v1', resource: 'clusterroles' };
const known = ['makers', 'system:authenticated'];
const ann: UserInfo = { name: 'ann', groups: known };
const bob: UserInfo = { name: 'bob', groups: known };
const url = '/apis/tenancy.kcp.io/v1alpha1/workspaces';
const workspace = (name: string, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name, ...(annotations && { annotations }) },
});
const owns = (username: string) => ({ [ownerAnnotation]: JSON.stringify({ username }) });

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: [] });
  const rules = [
    { apiGroups: [workspaces.group], resources: ['workspaces', 'workspaces/status'], verbs: ['*'] },
  ];
  const metadata = { name: 'makers' };
  await world.admin.create(roles, { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules });
  await world.admin.create(bindings, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'makers' },
    subjects: [
      { apiGroup: rbac, kind: 'Group', name: 'makers' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    ],
  });
});
afterAll(() => world.stop());

const as = (user: UserInfo) => world.transport(user);
const make = (user: UserInfo, object: KubeObject) => call(as(user), 'POST', url, object);

async function ready(name: string): Promise<string> {
  return await until(`${name} is ready`, async () => {
    const found = await world.admin.get<KubeObject<{ cluster?: string }, { phase?: string }>>(workspaces, {
      name,
    });
    return found.status?.phase === 'Ready' ? found.spec?.cluster : undefined;
  });
}

/** What somebody is answered who asks for the Secrets of a logical cluster. */
async function secrets(user: UserInfo, cluster: string): Promise<number> {
  return (await call(as(user), 'GET', `/clusters/${cluster}/api/v1/secrets`)).status;
}

describe('who makes a Workspace', () => {
  test('administers its logical cluster, and nobody else does', async () => {
    expect((await make(ann, workspace('hers'))).status).toBe(201);
    const id = await ready('hers');
    expect([await secrets(ann, id), await secrets(bob, id)]).toEqual([200, 403]);
  });

  test('is not made its administrator again when the phase is written anew', async () => {
    expect((await make(ann, workspace('taken'))).status).toBe(201);
    const id = await ready('taken');
    await world.admin.delete(bindings, { cluster: id, name: 'workspace-admin' });
    const status = { phase: 'Initializing' };
    expect((await call(as(ann), 'PATCH', `${url}/taken/status`, { status })).status).toBe(200);
    await ready('taken');
    expect(await secrets(ann, id)).toBe(403);
  });

  test('says neither then nor later that it is somebody else', async () => {
    const made = await make(ann, workspace('forged', owns('bob')));
    expect(JSON.parse(made.body.metadata.annotations[ownerAnnotation])).toMatchObject({ username: 'ann' });
    const change = { metadata: { annotations: owns('bob') } };
    for (const path of [`${url}/forged`, `${url}/forged/status`]) {
      const changed = await call(as(ann), 'PATCH', path, change);
      expect([path, changed.body.metadata?.annotations?.[ownerAnnotation]]).toEqual([
        path,
        made.body.metadata.annotations[ownerAnnotation],
      ]);
    }
    const id = await ready('forged');
    expect([await secrets(ann, id), await secrets(bob, id)]).toEqual([200, 403]);
  });

  test('keeps what is hers to change: her binding, once taken away, stays away', async () => {
    await make(ann, workspace('given'));
    const cluster = await ready('given');
    await world.admin.delete(bindings, { cluster, name: 'workspace-admin' });
    await world.admin.patch(workspaces, { name: 'given' }, 'merge', { metadata: { labels: { a: 'b' } } });
    await make(ann, workspace('after'));
    await ready('after');
    expect(await secrets(ann, cluster)).toBe(403);
  });

  test('is nobody there when they are of one logical cluster alone, and is told so', async () => {
    const scoped = { ...ann, extra: { 'authentication.kcp.io/scopes': ['cluster:root'] } };
    const robot = {
      name: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:authenticated'],
      extra: { 'authentication.kcp.io/cluster-name': ['root'] },
    };
    for (const [name, user] of Object.entries({ scoped, robot })) {
      const made = await make(user, workspace(name, owns(user.name)));
      expect([name, made.status, made.headers['warning']]).toEqual([
        name,
        201,
        [expect.stringContaining('is nobody in the logical cluster that this makes')],
      ]);
      const id = await ready(name);
      expect([name, await secrets(ann, id), await secrets(user, id)]).toEqual([name, 403, 403]);
    }
  });

  test('is whom an administrator of everything names, if that can be a user', async () => {
    const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
    expect((await make(admin, workspace('for-bob', owns('bob')))).status).toBe(201);
    expect(await secrets(bob, await ready('for-bob'))).toBe(200);
    for (const said of ['bob', '{}', 'null', JSON.stringify({ username: 'system:serviceaccount:a:b' })]) {
      const refused = await make(admin, workspace('for-nobody', { [ownerAnnotation]: said }));
      expect([said, refused.status]).toEqual([said, 422]);
    }
  });
});
