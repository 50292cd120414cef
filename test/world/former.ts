import { physicalNamespace } from '../../cluster/placement.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { SimulatedCluster } from '../../sim/cluster.ts';
import type { Store } from '../../storage/store.ts';

/*
 * A store as the version before ids wrote it, byte by byte: paths in keys, secrets among the API's keys, reflections
 * marked by an annotation alone; and a physical cluster as that version's syncer left it.
 */

export const eastUid = 'ea570000-0000-4000-8000-000000000000';
export const adminToken = 'the-former-token';

type East = Pick<SimulatedCluster, 'kubeconfig'> & Partial<Pick<SimulatedCluster, 'client'>>;
const nowhere: East = { kubeconfig: '' };

/** One workload `web` in namespace shop, in root and in root:team; a deleted Workspace `ghost` left things behind. */
export async function formerStore(store: Store, east: East = nowhere): Promise<void> {
  const put = (key: string, object: object) => store.create(key, Buffer.from(JSON.stringify(object)));
  await put('/internal.atoll.dev/secrets/admin', { token: adminToken });
  await put('/internal.atoll.dev/clusterips/root:team/10.96.0.9', {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
  });
  const kubeconfig = { namespace: 'atoll-system', name: 'east' };
  const data = { kubeconfig: Buffer.from(east.kubeconfig).toString('base64') };
  await put('/core/namespaces/root/atoll-system', namespaceObject('atoll-system', 'root'));
  await put('/core/secrets/root/atoll-system/east', object('v1', 'Secret', kubeconfig, { data }));
  const spec = { kubeconfigSecretRef: kubeconfig };
  const physical = object('atoll.dev/v1alpha1', 'PhysicalCluster', { name: 'east', uid: eastUid }, { spec });
  await put('/atoll.dev/physicalclusters/root/east', physical);
  await put('/core.kcp.io/logicalclusters/root:team/cluster', logicalCluster('root:team'));
  await put('/tenancy.kcp.io/workspaces/root/team', workspace('team'));
  for (const cluster of ['root', 'root:team']) {
    await put(`/core/namespaces/${cluster}/shop`, namespaceObject('shop', cluster));
    await put(`/apps/deployments/${cluster}/shop/web`, deployment(cluster));
    await put(`/atoll.dev/placements/${cluster}/shop/web.deployments.apps`, placement(cluster));
    await reflected(put, cluster, east);
  }
  await put('/apiextensions.k8s.io/customresourcedefinitions/root:ghost/widgets.example.com', definition);
  await put('/core/namespaces/root:ghost/default', namespaceObject('default', 'root:ghost'));
  await put('/tenancy.kcp.io/workspaces/root:ghost/deep', workspace('deep', 'root:ghost'));
  await put('/core.kcp.io/logicalclusters/root:ghost:deep/cluster', logicalCluster('root:ghost:deep'));
}

/** Its process is killed before the write of this number. */
export function killedAt(of: Store, writes: number): Store {
  let left = writes;
  const alive = async <T>(write: () => Promise<T>): Promise<T> => {
    if (left-- <= 0) throw new Error('killed');
    return await write();
  };
  return Object.assign(Object.create(of) as Store, {
    list: of.list.bind(of),
    get: of.get.bind(of),
    acquire: of.acquire.bind(of),
    create: (...given: Parameters<Store['create']>) => alive(() => of.create(...given)),
    update: (...given: Parameters<Store['update']>) => alive(() => of.update(...given)),
    delete: (...given: Parameters<Store['delete']>) => alive(() => of.delete(...given)),
  });
}

type Put = (key: string, object: object) => Promise<unknown>;

async function reflected(put: Put, cluster: string, east: East): Promise<void> {
  const pods = { group: '', version: 'v1', resource: 'pods' };
  const { items = [] } =
    (await east.client?.list(pods, { namespace: physicalNamespace(cluster, 'shop') })) ?? {};
  for (const pod of items) {
    const { name, labels, creationTimestamp } = pod.metadata;
    const annotations = { 'atoll.dev/physical-cluster': 'east' };
    const at = {
      name,
      namespace: 'shop',
      uid: uidOf(cluster, name ?? ''),
      creationTimestamp,
      labels,
      annotations,
    };
    const { spec, status } = pod;
    await put(`/core/pods/${cluster}/shop/${name}`, object('v1', 'Pod', at, { spec, status }));
  }
}

/** What the former version's syncer made of it. */
export async function formerPhysical(east: SimulatedCluster): Promise<void> {
  for (const cluster of ['root', 'root:team']) {
    const namespace = physicalNamespace(cluster, 'shop');
    const at = { syncer: eastUid, cluster, namespace: 'shop' };
    const home = { name: namespace, ...marked({ ...at, uid: '' }) };
    await east.client.create(
      { group: '', version: 'v1', resource: 'namespaces' },
      object('v1', 'Namespace', home),
    );
    const own = { ...at, resource: 'deployments.apps', name: 'web', uid: uidOf(cluster, 'web') };
    const { spec } = deployment(cluster);
    const there = object('apps/v1', 'Deployment', { name: 'web', namespace, ...marked(own) }, { spec });
    await east.client.create({ group: 'apps', version: 'v1', resource: 'deployments' }, there, { namespace });
  }
}

function marked(locator: object) {
  const labels = { 'atoll.dev/managed-by': 'atoll' };
  return { labels, annotations: { 'atoll.dev/locator': JSON.stringify(locator) } };
}

function uidOf(cluster: string, name: string): string {
  return `uid-of-${name}-in-${cluster.replaceAll(':', '-')}`;
}

function object(apiVersion: string, kind: string, metadata: object, more: object = {}): KubeObject {
  return { kind, apiVersion, metadata, ...more };
}

function namespaceObject(name: string, cluster: string): KubeObject {
  const labels = { 'kubernetes.io/metadata.name': name };
  const metadata = { labels, name, uid: uidOf(cluster, name), creationTimestamp: '2026-01-01T00:00:00Z' };
  return object('v1', 'Namespace', metadata, {
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
}

function logicalCluster(path: string): KubeObject {
  const [, parent = '', name = ''] = /^(.*):(.*)$/.exec(path) ?? [];
  const owner = { resource: 'workspaces', name, cluster: 'root', uid: uidOf(parent, name) };
  const metadata = { annotations: { 'kcp.io/path': path }, name: 'cluster', uid: uidOf(path, 'cluster') };
  return object('core.kcp.io/v1alpha1', 'LogicalCluster', metadata, {
    spec: { owner },
    status: { phase: 'Ready' },
  });
}

function workspace(name: string, parent = 'root'): KubeObject {
  const finalizers = ['core.kcp.io/logicalcluster'];
  const cluster = `${parent}:${name}`;
  const URL = `https://127.0.0.1/clusters/${cluster}`;
  const metadata = { name, uid: uidOf(parent, name), finalizers };
  const more = { spec: { cluster, URL }, status: { phase: 'Ready' } };
  return object('tenancy.kcp.io/v1alpha1', 'Workspace', metadata, more);
}

function deployment(cluster: string): KubeObject {
  const metadata = {
    annotations: { 'atoll.dev/clusters': 'east', 'atoll.dev/placed-by': 'admin' },
    name: 'web',
    namespace: 'shop',
    uid: uidOf(cluster, 'web'),
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'web:1' }] },
  };
  const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template };
  return object('apps/v1', 'Deployment', metadata, { spec });
}

function placement(cluster: string): KubeObject {
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: 'web' };
  const name = 'web.deployments.apps';
  const metadata = { name, namespace: 'shop', uid: uidOf(cluster, name), finalizers: ['atoll.dev/shares'] };
  return object('atoll.dev/v1alpha1', 'Placement', metadata, {
    spec: {
      ref: { ...ref, uid: uidOf(cluster, 'web') },
      clusters: ['east'],
      wanted: ['east'],
      shares: { east: { phase: 'Active', replicas: 2 } },
    },
    status: { clusters: { east: formerSlice }, conditions: [] },
  });
}

export const formerSlice = {
  present: true,
  observedGeneration: 1,
  share: { replicas: 2 },
  status: { replicas: 2 },
};

/** As the version before slices were objects wrote it: one Placement that settles, one that leaves, of one that is gone. */
export async function storeOfFormat2(store: Store): Promise<void> {
  const put = (key: string, object: object) => store.create(key, Buffer.from(JSON.stringify(object)));
  await put('/!internal/format', { format: 2 });
  const { spec, metadata, ...rest } = placement('root') as KubeObject<{ ref: object }>;
  const named = (name: string, shares: object, status?: object) =>
    put(`/atoll.dev/placements/root/shop/${name}`, {
      ...rest,
      metadata: { ...metadata, name, uid: `uid-of-${name}` },
      spec: { ...spec, shares },
      status,
    });
  const conditions = [{ type: 'Settled', status: 'True', reason: 'Settled', message: '' }];
  const active = { phase: 'Active', replicas: 2 };
  await named(
    'web.deployments.apps',
    { east: active, west: active },
    {
      clusters: { east: formerSlice, west: formerSlice },
      conditions,
    },
  );
  const absent = { present: false };
  await named(
    'old.deployments.apps',
    { east: { phase: 'Leaving' } },
    { clusters: { east: absent }, conditions },
  );
  await named('new.deployments.apps', { east: active });
}

const definition = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com', uid: 'uid-of-widgets' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
