import { setMaxListeners } from 'node:events';
import { decodeStored } from '../../apiserver/registry/codec.ts';
import { createApiServer } from '../../apiserver/server.ts';
import { syncerUser } from '../../apiserver/view/view.ts';
import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import { controllersUser, rootCluster, splitterUser } from '../../cluster/names.ts';
import { physicalNamespace, placementName } from '../../cluster/placement.ts';
import type { PlacementSlice } from '../../cluster/slices.ts';
import type {
  ClosureRef,
  ClusterSlice,
  ObjectRef,
  PhysicalCluster,
  Placement,
  PlacementSpec,
  Share,
} from '../../cluster/types.ts';
import { runWorkspaceController } from '../../controller/workspace/controller.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { Transport } from '../../kube/http.ts';
import { silentLogger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { apiOptions } from '../../server/api.ts';
import { systemClient } from '../../server/client.ts';
import { adminUser, loadIdentity } from '../../server/identity.ts';
import { firstMeeting, restoredNow } from '../../server/restored.ts';
import { resolveSettings } from '../../server/settings.ts';
import { dropSlice } from '../../splitter/write.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { type Syncer, startSyncer } from '../../syncer/syncer.ts';
import { Faults } from './faults.ts';
import { find, resources, until } from './objects.ts';

export const namespace = 'shop';
export const active: Share = { phase: 'Active' };
const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
export const leaving: Share = { phase: 'Leaving' };

export function configMap(name: string, data: Record<string, string> = { a: 'b' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** Of resources that tests place; every placed kind's plural is regular. */
export function resourceOf({ apiVersion, kind }: KubeObject) {
  return { ...parseApiVersion(apiVersion), resource: `${kind.toLowerCase()}s` };
}

/**
 * What a syncer reads and writes: Atoll's API as it is served, with a logical cluster root:team and a Namespace shop in
 * it, and neither scheduler nor splitter. A test is both of them, and says who gets which share.
 */
export class Upstream {
  /** The administrator's, in root:team. */
  readonly admin: Client;
  /** The id of root:team. */
  readonly logical: string;
  /** The namespace on each physical cluster where all of it goes. */
  readonly home: string;
  /** On the way from any syncer to its view. */
  readonly faults = new Faults();
  /** Ends what runs behind the API, and the API. */
  readonly close: () => Promise<void>;
  readonly #parts: Parts;
  readonly #namespaceUid: string;

  private constructor(parts: Parts, namespaceUid: string) {
    this.#parts = parts;
    this.admin = parts.admin;
    this.logical = parts.logical;
    this.#namespaceUid = namespaceUid;
    this.home = physicalNamespace(parts.logical, namespace, namespaceUid);
    this.close = parts.close;
  }

  /** With these PhysicalClusters registered. */
  static async start(...clusters: string[]): Promise<Upstream> {
    const parts = await serve(openMemory());
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const { metadata } = await parts.admin.create(resources.namespaces, shop);
    for (const name of clusters) {
      const spec = { kubeconfigSecretRef: { namespace: 'default', name } };
      const object = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PhysicalCluster', metadata: { name }, spec };
      await parts.admin.create(resources.physicalclusters, object, { cluster: rootCluster });
    }
    return new Upstream(parts, metadata.uid ?? '');
  }

  /** All that it stores now; the answer serves that once more, as a backup that was restored does. */
  async backup(): Promise<() => Promise<Upstream>> {
    const { store } = this.#parts;
    const { entries } = await store.list({ start: '', end: '\x7f' });
    return async () => {
      const restored = openMemory();
      const more = Object.entries(restoredNow()).map(([key, value]) => ({ key, value }));
      for (const { key, value } of [...entries, ...more]) await restored.create(key, value);
      return new Upstream(await serve(restored), this.#namespaceUid);
    };
  }

  /** See SyncerOptions. */
  readonly firstMeeting = (uid: string, former: Iterable<string>): ReturnType<typeof firstMeeting> =>
    firstMeeting(this.#parts.store, uid, former);

  /** Its PhysicalCluster. */
  async cluster(name = 'east'): Promise<PhysicalCluster> {
    return await this.admin.get(resources.physicalclusters, { cluster: rootCluster, name });
  }

  /** Of the syncer of a cluster: its view. */
  view(cluster: string): Client {
    const transport = this.faults.wrap(this.#parts.transportOf(cluster));
    return new Client(transport, { prefix: `/syncers/${cluster}` });
  }

  /** Writes Placements in the logical cluster. */
  get splitter(): Client {
    return this.#parts.splitter;
  }

  /** Makes the object as its user would, and its Placement as scheduler and splitter would. */
  async place(
    root: KubeObject,
    shares: Record<string, Share>,
    requires: ClosureRef[] = [],
  ): Promise<ObjectRef> {
    const ref = await this.make(root);
    const metadata = { name: placementName(ref), namespace };
    const spec = this.specOf(ref, shares, requires);
    const placement = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata, spec };
    await this.#parts.splitter.create(resources.placements, placement);
    return ref;
  }

  /** The object alone. */
  async make(root: KubeObject): Promise<ObjectRef> {
    const resource = resourceOf(root);
    const object = { ...root, metadata: { ...root.metadata, namespace } };
    const { metadata } = await this.admin.create(resource, object);
    return { ...resource, kind: root.kind, name: metadata.name ?? '', uid: metadata.uid ?? '' };
  }

  specOf(ref: ObjectRef, shares: Record<string, Share>, requires: ClosureRef[] = []): PlacementSpec {
    const place = { namespaceUid: this.#namespaceUid, physicalNamespace: this.home };
    return { ref, ...place, clusters: Object.keys(shares), shares, requires };
  }

  async shares(ref: ObjectRef, shares: Record<string, Share>): Promise<void> {
    await this.#set(ref, '/spec/shares', shares);
  }

  async spec(ref: ObjectRef, spec: PlacementSpec): Promise<void> {
    await this.#set(ref, '/spec', spec);
  }

  /** As the garbage collector does where a workload is deleted with propagationPolicy Orphan. */
  async orphaned(ref: ObjectRef, uid: string): Promise<void> {
    await this.#set(ref, '/spec/orphaned', uid);
  }

  /** As if the syncer of east had said this. */
  async say(ref: ObjectRef, slice: ClusterSlice): Promise<void> {
    const at = { cluster: this.logical, namespace, name: placementName(ref), subresource: 'status' };
    const east = new Client(this.#parts.transportOf('east'), { prefix: '/syncers/east' });
    await east.patch(shares, at, 'merge', { status: slice });
  }

  /** Takes back what all syncers have said. */
  async dropSlices(ref: ObjectRef): Promise<void> {
    await this.#parts.drop(this.logical, placementName(ref));
  }

  /** Removes the Placement. */
  async unplace(ref: ObjectRef): Promise<void> {
    await this.#parts.splitter.delete(resources.placements, { namespace, name: placementName(ref) });
  }

  /** Removes the object itself. */
  async remove(ref: ObjectRef): Promise<void> {
    await this.admin.delete(ref, { namespace, name: ref.name });
  }

  /** What the syncer of a cluster has said. */
  async slice(ref: ObjectRef, cluster = 'east'): Promise<ClusterSlice | undefined> {
    const placement = await find<Placement>(this.admin, resources.placements, placementName(ref), namespace);
    return placement?.status?.clusters?.[cluster];
  }

  async #set(ref: ObjectRef, path: string, value: unknown): Promise<void> {
    const at = { namespace, name: placementName(ref) };
    await this.#parts.splitter.patch(resources.placements, at, 'json', [{ op: 'add', path, value }]);
  }
}

interface Parts {
  store: Store;
  admin: Client;
  splitter: Client;
  logical: string;
  transportOf(cluster: string): Transport;
  /** As the splitter does, whoever has spoken. */
  drop(cluster: string, placement: string): Promise<void>;
  close(): Promise<void>;
}

async function serve(store: Store): Promise<Parts> {
  const dataDir = '/nowhere';
  const identity = await loadIdentity(store, '127.0.0.1', dataDir);
  const settings = resolveSettings({ dataDir }, undefined, {});
  const logger = silentLogger;
  const server = createApiServer(apiOptions({ store, settings, identity, logger, syncers: () => undefined }));
  const life = new AbortController();
  const { signal } = life;
  setMaxListeners(0, signal);
  const client = systemClient(server, controllersUser);
  const informers = new InformerSet(client, { cluster: '*', signal, logger });
  const controllers = runWorkspaceController({ client, informers, signal, logger, url: () => '' });
  const admin = new Client(server.transport(adminUser), { cluster: rootCluster });
  const logical = await workspace(admin, 'team');
  return {
    store,
    admin: admin.with({ cluster: logical }),
    splitter: systemClient(server, splitterUser, logical),
    logical,
    transportOf: (name) => server.transport(syncerUser(name)),
    async drop(cluster, placement) {
      const writer = { client: systemClient(server, splitterUser), signal };
      const prefix = `/atoll.dev/placementslices/${cluster}/${namespace}/${placement}~`;
      for (const entry of (await store.list(prefixRange(prefix))).entries)
        await dropSlice(cluster, decodeStored(entry) as PlacementSlice, writer);
    },
    close: async () => {
      life.abort(new Error('done'));
      await controllers;
      await server.close();
      await store.close();
    },
  };
}

type Workspace = KubeObject<{ cluster?: string }, { phase?: string }>;

/** The id of its logical cluster. */
async function workspace(admin: Client, name: string): Promise<string> {
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  if (!(await find(admin, resources.workspaces, name, ''))) await admin.create(resources.workspaces, object);
  const ready = await until(`workspace ${name}`, async () => {
    const found = await admin.get<Workspace>(resources.workspaces, { name });
    return found.status?.phase === 'Ready' ? found : undefined;
  });
  return ready.spec?.cluster ?? '';
}

export type Running = Syncer & { stop(): Promise<void> };

/** One syncer; `stop` ends its life as a kill would: nothing is cleaned up. */
export function runSyncer(
  upstream: Upstream,
  physical: Transport,
  name = 'east',
  former: readonly string[] = [],
  restMs?: number,
  heartbeatMs = 50,
  logger = silentLogger,
): Running {
  const life = new AbortController();
  const syncer = startSyncer({
    name,
    upstream: upstream.view(name),
    physical,
    former,
    firstMeeting: upstream.firstMeeting,
    signal: life.signal,
    logger,
    heartbeatMs,
    namespaceDelayMs: 50,
    ...(restMs !== undefined && { restMs }),
  });
  return {
    ...syncer,
    async stop() {
      life.abort(new Error('stopped'));
      await syncer.stopped;
    },
  };
}
