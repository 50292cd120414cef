import { randomUUID } from 'node:crypto';
import { decodeStored, encodeStored } from '../../../../apiserver/registry/codec.ts';
import { objectKey } from '../../../../apiserver/registry/keys.ts';
import { createApiServer } from '../../../../apiserver/server.ts';
import { syncerUser, syncerView } from '../../../../apiserver/view/view.ts';
import { Client } from '../../../../client/client.ts';
import { physicalNamespace, placementName } from '../../../../cluster/placement.ts';
import { ownResources } from '../../../../cluster/resources.ts';
import type { PlacementSlice } from '../../../../cluster/slices.ts';
import type { ClosureRef, ClusterSlice, ObjectRef, Placement, Share } from '../../../../cluster/types.ts';
import { deepEqual } from '../../../../kube/deep.ts';
import type { Transport, UserInfo } from '../../../../kube/http.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../../../storage/store.ts';

export const logical = 'root:team';
export const namespace = 'shop';
export const east = physicalNamespace(logical, namespace);

/** Keys of the store that the view reads or writes. */
export const keys = {
  object: (of: { group: string; resource: string; name: string }, cluster: string, space: string) =>
    objectKey({ ...of, namespaced: true }, cluster, space, of.name),
  pod: (cluster: string, space: string, name: string) =>
    keys.object({ group: '', resource: 'pods', name }, cluster, space),
  placement: (cluster: string, space: string, name: string) =>
    keys.object({ group: 'atoll.dev', resource: 'placements', name }, cluster, space),
  namespace: (cluster: string, name: string) =>
    objectKey({ group: '', resource: 'namespaces', namespaced: false }, cluster, '', name),
  physicalCluster: (name: string) =>
    objectKey({ group: 'atoll.dev', resource: 'physicalclusters', namespaced: false }, 'root', '', name),
};

/**
 * The view over a store that is written here, byte by byte: its tests count revisions, and store what no client may.
 * What a syncer does on it: test/world/upstream.ts.
 */
export class Upstream {
  readonly store: Store = openMemory();
  readonly #server = createApiServer({
    store: this.store,
    logicalClusters: true,
    authenticate: [],
    views: [syncerView()],
    resources: ownResources.map((resource) => ({ ...resource, custom: true })),
  });

  static async make(...clusters: string[]): Promise<Upstream> {
    const upstream = new Upstream();
    await upstream.write(keys.namespace(logical, namespace), object('v1', 'Namespace', namespace));
    for (const name of clusters) await upstream.addCluster(name, `uid-${name}`);
    return upstream;
  }

  async addCluster(name: string, uid: string): Promise<void> {
    const cluster = object('atoll.dev/v1alpha1', 'PhysicalCluster', name);
    await this.write(keys.physicalCluster(name), { ...cluster, metadata: { name, uid } });
  }

  transport(user: UserInfo): Transport {
    return this.#server.transport(user);
  }

  client(cluster: string): Client {
    return new Client(this.transport(syncerUser(cluster)), { prefix: `/syncers/${cluster}` });
  }

  async write(key: string, value: KubeObject): Promise<number> {
    const before = await this.store.get(key);
    const bytes = encodeStored(counted(value, await this.read(key)));
    const entry = before
      ? await this.store.update(key, bytes, before.revision)
      : await this.store.create(key, bytes);
    return entry.revision;
  }

  async remove(key: string): Promise<void> {
    const entry = await this.store.get(key);
    if (entry) await this.store.delete(key, entry.revision);
  }

  async read<T extends KubeObject>(key: string): Promise<T | undefined> {
    const entry = await this.store.get(key);
    return entry && (JSON.parse(Buffer.from(entry.value).toString()) as T);
  }

  /** Writes a root object and, with shares, its Placement. */
  async place(
    root: KubeObject,
    ref: ObjectRef,
    shares: Record<string, Share>,
    requires: ClosureRef[] = [],
  ): Promise<void> {
    await this.write(keys.object(ref, logical, namespace), root);
    const before = await this.read<Placement>(placementKey(ref));
    const placement: Placement = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'Placement',
      metadata: { name: placementName(ref), namespace, uid: randomUUID() },
      ...before,
      spec: { ref, clusters: Object.keys(shares), shares, requires },
    };
    await this.write(placementKey(ref), placement);
  }

  /** What its clusters have said of it, as it is stored. */
  async said(ref: ObjectRef): Promise<Record<string, ClusterSlice>> {
    const prefix = placementKey(ref).replace('/placements/', '/placementslices/');
    const { entries } = await this.store.list(prefixRange(`${prefix}~`));
    const all = entries.map((entry) => decodeStored(entry) as PlacementSlice);
    return Object.fromEntries(all.map(({ spec, status }) => [spec?.cluster, status]));
  }

  async shares(ref: ObjectRef, shares: Record<string, Share>): Promise<number> {
    const before = await this.read<Placement>(placementKey(ref));
    if (!before?.spec) throw new Error('no placement');
    return this.write(placementKey(ref), { ...before, spec: { ...before.spec, shares } });
  }
}

/** As the registry counts what a Placement says. */
function counted(value: KubeObject, before: KubeObject | undefined): KubeObject {
  if (value.kind !== 'Placement') return value;
  const { generation = 0 } = before?.metadata ?? {};
  const isSame = before !== undefined && deepEqual(value.spec, before.spec);
  return { ...value, metadata: { ...value.metadata, generation: isSame ? generation : generation + 1 } };
}

export function placementKey(ref: ObjectRef): string {
  return keys.placement(logical, namespace, placementName(ref));
}

export function object(apiVersion: string, kind: string, name: string): KubeObject {
  return { kind, apiVersion, metadata: { name, namespace, uid: `uid-of-${name}`, generation: 1 } };
}

export function deployment(name: string, generation = 1, image = 'shop:1'): [KubeObject, ObjectRef] {
  const root = object('apps/v1', 'Deployment', name);
  const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image }] } };
  return [
    {
      ...root,
      metadata: { ...root.metadata, generation },
      spec: { replicas: 4, selector: { matchLabels: { app: name } }, template },
    },
    {
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      kind: 'Deployment',
      name,
      uid: `uid-of-${name}`,
    },
  ];
}

export function configMap(name: string, data: Record<string, string> = { a: 'b' }): [KubeObject, ObjectRef] {
  return [
    { ...object('v1', 'ConfigMap', name), data },
    { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', name, uid: `uid-of-${name}` },
  ];
}

export const active: Share = { phase: 'Active' };
