import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { ResourceRef } from '../../../client/url.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { find, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: [] });
});
afterEach(() => world.stop());

async function logicalCluster(name: string): Promise<Client> {
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await world.admin.create(resources.workspaces, workspace);
  await until(`${name} is ready`, async () => {
    const found = await find<KubeObject<unknown, { phase?: string }>>(
      ...([world.admin, resources.workspaces, name, ''] as const),
    );
    return found?.status?.phase === 'Ready';
  });
  return world.admin.with({ cluster: `root:${name}` });
}

function definition(
  version: string,
  scope: 'Namespaced' | 'Cluster',
  plural = 'foos',
  kind = 'Foo',
): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope,
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

const foos = (version: string): ResourceRef => ({ group: 'example.com', version, resource: 'foos' });
const foo = (version: string, name: string, metadata: object = {}): KubeObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Foo',
  metadata: { name, ...metadata },
});
const configMap = (name: string, ownerReferences: object[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ownerReferences } as KubeObject['metadata'],
});
const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject) => ({
  apiVersion,
  kind,
  name,
  uid,
});

/** What the collector had to look at before is decided once it has collected what was made last. */
async function collectorCameBy(client: Client): Promise<void> {
  const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never-was' };
  for (const name of ['sentinel-1', 'sentinel-2']) {
    await client.create(resources.configmaps, configMap(name, [gone]));
    await until(`${name} is collected`, async () => !(await find(client, resources.configmaps, name)));
  }
}

const exists = (client: Client, name: string) => find(client, resources.configmaps, name);

test('two logical clusters with one CRD in another scope and version lose nothing, and both are collected', async () => {
  const a = await logicalCluster('a');
  await a.create(resources.customresourcedefinitions, definition('v1', 'Namespaced'));
  const b = await logicalCluster('b');
  await b.create(resources.customresourcedefinitions, definition('v2', 'Cluster'));
  const inA = await a.create(foos('v1'), foo('v1', 'owner', { namespace: 'default' }));
  const inB = await b.create(foos('v2'), foo('v2', 'owner'));
  await a.create(resources.configmaps, configMap('of-foo', [ownedBy(inA)]));
  await b.create(resources.configmaps, configMap('of-foo', [ownedBy(inB)]));
  for (const client of [a, b]) await collectorCameBy(client);
  expect(await exists(a, 'of-foo')).toBeDefined();
  expect(await exists(b, 'of-foo')).toBeDefined();
  await b.delete(foos('v2'), { name: 'owner' });
  await until('b’s is collected', async () => !(await exists(b, 'of-foo')));
  expect(await exists(a, 'of-foo')).toBeDefined();
  await a.delete(foos('v1'), { namespace: 'default', name: 'owner' });
  await until('a’s is collected', async () => !(await exists(a, 'of-foo')));
});

test('custom objects are collected in the version and scope of their own logical cluster', async () => {
  const a = await logicalCluster('a');
  await a.create(resources.customresourcedefinitions, definition('v1', 'Namespaced'));
  const b = await logicalCluster('b');
  await b.create(resources.customresourcedefinitions, definition('v2', 'Namespaced'));
  for (const [client, version] of [
    [a, 'v1'],
    [b, 'v2'],
  ] as const) {
    const owner = await client.create(resources.configmaps, configMap('owner'));
    const metadata = { namespace: 'default', ownerReferences: [ownedBy(owner)] };
    await client.create(foos(version), foo(version, 'dependent', metadata));
    await client.delete(resources.configmaps, { namespace: 'default', name: 'owner' });
    await until(`the ${version} is collected`, async () => {
      const { items } = await client.list(foos(version), { namespace: 'default' });
      return items.length === 0;
    });
  }
});

test('an owner that goes before its kind is watched takes along what it owns', async () => {
  const a = await logicalCluster('a');
  for (let round = 0; round < 8; round += 1) {
    await a.create(
      resources.customresourcedefinitions,
      definition('v1', 'Namespaced', `things${round}`, `Thing${round}`),
    );
    const things: ResourceRef = { group: 'example.com', version: 'v1', resource: `things${round}` };
    const thing = { ...foo('v1', 'owner', { namespace: 'default' }), kind: `Thing${round}` };
    const owner = await a.create(things, thing);
    await a.create(resources.configmaps, configMap(`of-thing-${round}`, [ownedBy(owner)]));
    await collectorCameBy(a);
    await a.delete(things, { namespace: 'default', name: 'owner' });
    await until(`round ${round} is collected`, async () => !(await exists(a, `of-thing-${round}`)));
  }
});

/** What is deleted after its dependents goes when the collector, which watches its kind, says that it may. */
async function collectorWatches(client: Client): Promise<void> {
  await client.create(foos('v1'), foo('v1', 'probe', { namespace: 'default' }));
  const probe = { namespace: 'default', name: 'probe' };
  await client.delete(foos('v1'), probe, { propagationPolicy: 'Foreground' });
  await until('the collector watches', async () => !(await find(client, foos('v1'), 'probe')));
}

test('while a kind is not served nothing that it owns is deleted; when its objects were seen to end it is', async () => {
  const a = await logicalCluster('a');
  const stranger = { apiVersion: 'nowhere.example/v1', kind: 'Bar', name: 'bar', uid: 'bar' };
  await a.create(resources.configmaps, configMap('of-bar', [stranger]));
  await a.create(resources.customresourcedefinitions, definition('v1', 'Namespaced'));
  const owner = await a.create(foos('v1'), foo('v1', 'owner', { namespace: 'default' }));
  await a.create(resources.configmaps, configMap('of-foo', [ownedBy(owner)]));
  await collectorCameBy(a);
  await collectorWatches(a);
  await a.delete(resources.customresourcedefinitions, { name: 'foos.example.com' });
  await until('what its objects owned is collected', async () => !(await exists(a, 'of-foo')));
  expect(await exists(a, 'of-bar')).toBeDefined();
});
