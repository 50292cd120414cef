import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import { identifyingNamespace, whyNotTaken } from '../cluster/identity.ts';
import type { PhysicalCluster } from '../cluster/types.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/** Knows a cluster again that is registered twice, or that is this Atoll. */
export class Twins {
  readonly #client: Client;
  readonly #clusters: Informer<PhysicalCluster>;
  /** Uids that were looked for among our own: no logical cluster takes one that another cluster has. */
  readonly #own = new Map<string, boolean>();

  constructor(client: Client, clusters: Informer<PhysicalCluster>) {
    this.#client = client;
    this.#clusters = clusters;
    clusters.addIndex('uid', ({ status }) => (status?.clusterUID ? [status.clusterUID] : []));
  }

  /** Why the PhysicalCluster of that key, which says that it is `clusterUID`, may not be taken. */
  async whyNot(key: string, clusterUID: string, signal: AbortSignal): Promise<string | undefined> {
    const cluster = this.#clusters.get(key);
    if (!cluster) return undefined;
    const own = await this.#isOwn(clusterUID, signal);
    const told = { ...cluster, status: { ...cluster.status, clusterUID } };
    return whyNotTaken(told, this.#clusters.byIndex('uid', clusterUID), () => own);
  }

  async #isOwn(uid: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#own.get(uid);
    if (known !== undefined) return known;
    const fieldSelector = `metadata.name=${identifyingNamespace}`;
    const { items } = await this.#client.list(namespaces, { cluster: '*', fieldSelector, signal });
    const own = items.some(({ metadata }) => metadata.uid === uid);
    this.#own.set(uid, own);
    return own;
  }
}
