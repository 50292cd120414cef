import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathsById } from '../../../cli/logical-clusters.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { adminUser } from '../../../server/identity.ts';
import { deployment, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { workspaces, namespaces, configmaps, customresourcedefinitions: crds } = resources;
const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };
const hooks = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
};
const logicalClusters = { group: 'core.kcp.io', version: 'v1alpha1', resource: 'logicalclusters' };
const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterAll(() => world.stop());

type Workspace = KubeObject<{ cluster?: string; URL?: string }, { phase?: string; conditions?: object[] }>;

/** Makes a Workspace and waits until it is ready; its id. */
async function workspace(path: string): Promise<string> {
  const [, parent = '', name = ''] = /^(.+):([^:]+)$/.exec(path) ?? [];
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await world.admin.create(workspaces, object, { cluster: parent });
  const ready = await until(`${path} is ready`, async () => {
    const found = await world.admin.get<Workspace>(workspaces, { cluster: parent, name });
    return found.status?.phase === 'Ready' ? found : undefined;
  });
  return ready.spec?.cluster ?? '';
}

async function end(path: string): Promise<void> {
  const [, parent = '', name = ''] = /^(.+):([^:]+)$/.exec(path) ?? [];
  await world.admin.delete(workspaces, { cluster: parent, name });
  await until(`${path} is gone`, () => isGone(world.admin.get(workspaces, { cluster: parent, name })));
}

function isGone(reading: Promise<unknown>): Promise<boolean> {
  return reading.then(
    () => false,
    (error) => isStatusError(error, 'NotFound') || Promise.reject(error),
  );
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

async function fill(cluster: string): Promise<void> {
  const { admin } = world;
  const into = { cluster };
  await admin.create(crds, definition, into);
  await admin.create(
    widgets,
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
    into,
  );
  const rbac = 'rbac.authorization.k8s.io/v1';
  await admin.create(clusterRoles, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: 'r' } }, into);
  // The default ones are written as they are looked for, and go as all else does.
  expect((await admin.list(clusterRoles, into)).items.length).toBeGreaterThan(60);
  const webhook = {
    name: 'no.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    timeoutSeconds: 1,
    rules: [{ apiGroups: ['batch'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
  };
  const kind = 'ValidatingWebhookConfiguration';
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await admin.create(hooks, { apiVersion, kind, metadata: { name: 'h' }, webhooks: [webhook] }, into);
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }, into);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'kube-system' } };
  await admin.create(configmaps, map, into);
  await admin.create(resources.deployments, deployment('web', 2, 'east'), into);
}

async function keysOf(id: string): Promise<string[]> {
  const { entries } = await world.store.list({ start: '', end: '\x7f' });
  return entries.map(({ key }) => key).filter((key) => key.split('/').includes(id));
}

describe('a logical cluster', () => {
  test('has an id of its own, and is reached by it and by its path', async () => {
    const id = await workspace('root:named');
    expect(id).toMatch(/^[a-z0-9]{16}$/);
    const { metadata, spec } = await world.admin.get<Workspace>(workspaces, { name: 'named' });
    expect([metadata.finalizers, spec?.URL?.replace(/.*\/clusters/, '')]).toEqual([
      ['core.kcp.io/logicalcluster'],
      '/root:named',
    ]);
    const inside = await world.admin.get(logicalClusters, { cluster: 'root:named', name: 'cluster' });
    expect(inside.metadata.annotations).toEqual({ 'kcp.io/path': 'root:named' });
    expect(await world.admin.get(logicalClusters, { cluster: id, name: 'cluster' })).toEqual(inside);
    const everywhere = world.as(adminUser, '*');
    const { items } = await everywhere.list(namespaces, { fieldSelector: 'metadata.name=default' });
    expect(items.map((one) => one.metadata.annotations?.['kcp.io/cluster']).sort()).toEqual(
      [id, 'root'].sort(),
    );
    const nested = await workspace('root:named:deep');
    const deep = await world.admin.get(logicalClusters, { cluster: nested, name: 'cluster' });
    expect(deep.metadata.annotations).toEqual({ 'kcp.io/path': 'root:named:deep' });
    const below = await world.admin.get(logicalClusters, { cluster: `${id}:deep`, name: 'cluster' });
    expect(below.metadata.uid).toBe(deep.metadata.uid);
    const pathOf = await pathsById(world.admin);
    expect(['root', id, nested, 'other'].map(pathOf)).toEqual([
      'root',
      'root:named',
      'root:named:deep',
      'other',
    ]);
    await end('root:named');
    expect(await keysOf(nested)).toEqual([]);
  });

  test('goes with everything in it, and one made again under its path is empty', async () => {
    const id = await workspace('root:again');
    await fill('root:again');
    const nested = await workspace('root:again:child');
    await world.admin.create(crds, definition, { cluster: nested });
    await until('it runs', async () => (await readyPods(world.physical('east'), 'web')).length === 2);
    await end('root:again');
    expect([...(await keysOf(id)), ...(await keysOf(nested))]).toEqual([]);
    const { items } = await world.physical('east').client.list(resources.pods, { labelSelector: 'app=web' });
    expect(items).toEqual([]);
    for (const cluster of [id, 'root:again']) {
      expect(await isGone(world.admin.list(namespaces, { cluster }))).toBe(true);
    }

    expect(await workspace('root:again')).not.toBe(id);
    const into = { cluster: 'root:again' };
    for (const kind of [crds, hooks, workspaces]) {
      expect((await world.admin.list(kind, into)).items).toEqual([]);
    }
    const labelSelector = '!kubernetes.io/bootstrapping';
    expect((await world.admin.list(clusterRoles, { ...into, labelSelector })).items).toEqual([]);
    expect(await isGone(world.admin.list(widgets, into))).toBe(true);
    expect((await world.admin.list(namespaces, into)).items).toHaveLength(4);
    await end('root:again');
    // Nothing is furnished afterwards.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await keysOf(id)).toEqual([]);
  });

  test('that is going waits for the finalizers in it, and takes nothing new', async () => {
    const id = await workspace('root:held');
    const into = { cluster: id };
    const metadata = { name: 'r', finalizers: ['example.com/hold'] };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata };
    await world.admin.create(clusterRoles, role, into);
    await world.admin.delete(workspaces, { name: 'held' });
    const going = await until('the role is going', async () => {
      const found = await world.admin.get(clusterRoles, { ...into, name: 'r' });
      return found.metadata.deletionTimestamp ? found : undefined;
    });
    const another = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } };
    await expect(world.admin.create(namespaces, another, into)).rejects.toThrow(/being terminated/);
    expect(going.metadata.finalizers).toEqual(['example.com/hold']);
    const told = await until('it says what it waits for', async () => {
      const { status } = await world.admin.get<Workspace>(workspaces, { name: 'held' });
      return status?.conditions?.[0] ? status : undefined;
    });
    expect(told).toMatchObject({
      phase: 'Terminating',
      conditions: [
        {
          type: 'WorkspaceContentDeleted',
          status: 'False',
          reason: 'SomeResourcesRemain',
          message:
            'Some resources are remaining: clusterroles.rbac.authorization.k8s.io has 1 resource instances; ' +
            'Some content has finalizers remaining: example.com/hold in 1 resource instances',
        },
      ],
    });
    await world.admin.patch(clusterRoles, { ...into, name: 'r' }, 'merge', {
      metadata: { finalizers: null },
    });
    await until('it is gone', () => isGone(world.admin.get(workspaces, { name: 'held' })));
    expect(await keysOf(id)).toEqual([]);
  });

  test.each([
    ['a.b', 'must not contain dots'],
    ['x'.repeat(64), 'must be no more than 63 characters'],
  ])('has no name that no path has: %s', async (name, why) => {
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
    const refused = `Workspace.tenancy.kcp.io "${name}" is invalid: metadata.name: Invalid value: "${name}": ${why}`;
    await expect(world.admin.create(workspaces, object)).rejects.toThrow(refused);
  });

  test('has no path that is longer than one may be', async () => {
    let parent = 'root';
    for (const letter of 'abc') {
      const name = letter.repeat(63);
      await workspace(`${parent}:${name}`);
      parent = `${parent}:${name}`;
    }
    const object = (length: number) => ({
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'd'.repeat(length) },
    });
    const into = { cluster: parent };
    await expect(world.admin.create(workspaces, object(57), into)).rejects.toThrow(
      'its path would have 254 characters, of which 253 may be',
    );
    await world.admin.create(workspaces, object(56), into);
    await until('it is served', () =>
      world.admin.list(namespaces, { cluster: `${parent}:${'d'.repeat(56)}` }).then(
        () => true,
        () => false,
      ),
    );
  });

  test("leads where the system says: a user's Workspace cannot name another's", async () => {
    const id = await workspace('root:mine');
    const stolen = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'thief' },
      spec: { cluster: id },
    };
    await expect(world.admin.create(workspaces, stolen)).rejects.toThrow(/spec.cluster can only be set/);
    const change = { spec: { cluster: 'root' } };
    await expect(world.admin.patch(workspaces, { name: 'mine' }, 'merge', change)).rejects.toThrow(
      /immutable/,
    );
    const inside = { cluster: id, name: 'cluster' };
    const lie = { metadata: { annotations: { 'kcp.io/path': 'root:other' } } };
    const kept = await world.admin.patch(logicalClusters, inside, 'merge', lie);
    expect(kept.metadata.annotations).toEqual({ 'kcp.io/path': 'root:mine' });
    await expect(world.admin.delete(logicalClusters, inside)).rejects.toThrow(/deleted with its Workspace/);
    await end('root:mine');
  });
});

test.each(['internal.atoll.dev', 'atoll.dev', 'core.kcp.io', 'kcp.io'])(
  'nobody defines kinds in the group %s',
  async (group) => {
    const spec = { ...definition.spec, group };
    const object = { ...definition, metadata: { name: `widgets.${group}` }, spec };
    await expect(world.admin.create(crds, object)).rejects.toMatchObject({
      code: 422,
      details: { causes: [{ field: 'spec.group', reason: 'FieldValueForbidden' }] },
    });
  },
);

test("the server's own secrets are where no resource can be", async () => {
  const { entries } = await world.store.list({ start: '', end: '\x7f' });
  const secrets = entries.filter(({ value }) => Buffer.from(value).includes('PRIVATE KEY'));
  const own = secrets.filter(({ key }) => !key.startsWith('/core/secrets/'));
  expect(own.map(({ key }) => key)).toEqual(['/!internal/secrets/ca', '/!internal/secrets/service-accounts']);
});
