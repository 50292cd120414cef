import { type Peer, peerOf } from '../../cluster/peers.ts';
import type { InClusterConfig, PhysicalCluster } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { collectionRange, parseKey } from '../registry/keys.ts';
import { listEntries } from '../registry/rewrite.ts';
import type { Owned } from './owned.ts';
import { accountsStored, clustersStored, type NamespacePlace, slicesStored } from './places.ts';

const allSlices = collectionRange(slicesStored, '*', '').start;
const allAccounts = collectionRange(accountsStored, '*', '').start;
const allClusters = collectionRange(clustersStored, '*', '').start;

const everyCluster = { resource: clustersStored, cluster: '*', namespace: '' };

/** What is no Placement, and concerns clusters that have no share of it: see Peers and Reach. */
export function besideOf(key: string): 'slice' | 'account' | 'cluster' | undefined {
  if (key.startsWith(allSlices)) return 'slice';
  if (key.startsWith(allAccounts)) return 'account';
  return key.startsWith(allClusters) ? 'cluster' : undefined;
}

export function placeOfAccount(key: string): NamespacePlace {
  const { cluster: logical, namespace } = parseKey(accountsStored, key);
  return { logical, namespace };
}

export function placeOfSlice(key: string): NamespacePlace {
  const { cluster: logical, namespace } = parseKey(slicesStored, key);
  return { logical, namespace };
}

/** What clusters have in common with others of their network, and which of them an event may concern. */
export class Beside {
  #clusters: ReadonlyMap<string, Peer> = new Map();
  /** The revision of the last change of them: beats are none. */
  #since = 0;
  /** How pods of those reach their logical cluster that say so. */
  readonly #reach = new Map<string, InClusterConfig>();

  async load(store: Store, revision: number): Promise<void> {
    const { entries } = await listEntries(store, everyCluster, { revision });
    for (const entry of entries) {
      const told = clusterIn({ type: 'put', entry });
      this.#clusters = withCluster(this.#clusters, told);
      this.#reaches(told);
    }
    this.#since = revision;
  }

  /** Whether it is another way by now. */
  #reaches({ name, cluster }: Told): boolean {
    const config = cluster?.spec?.inClusterConfig;
    if (deepEqual(this.#reach.get(name), config)) return false;
    if (config) this.#reach.set(name, config);
    else this.#reach.delete(name);
    return true;
  }

  /** As of `revision`, which must have been reached; undefined: they were others then. */
  clusters(revision: number): ReadonlyMap<string, Peer> | undefined {
    return revision >= this.#since ? this.#clusters : undefined;
  }

  /**
   * Of a slice those that are in a network and have something in its namespace, of an account those that give its tokens to pods;
   * of a cluster all, or itself alone.
   */
  concerned(event: StoreEvent, clusters: Iterable<string>, owned: Owned): Iterable<string> {
    const { key, revision } = event.entry;
    const what = besideOf(key);
    if (what === undefined) return [];
    if (what === 'slice') {
      if (this.#clusters.size === 0) return [];
      const place = placeOfSlice(key);
      return [...clusters].filter(
        (cluster) => this.#clusters.has(cluster) && owned.in(cluster, place) !== undefined,
      );
    }
    if (what === 'account') {
      if (this.#reach.size === 0) return [];
      const place = placeOfAccount(key);
      return [...clusters].filter(
        (cluster) => this.#reach.has(cluster) && owned.in(cluster, place) !== undefined,
      );
    }
    const told = clusterIn(event);
    const isOther = this.#reaches(told);
    const after = withCluster(this.#clusters, told);
    if (after === this.#clusters) return isOther ? [told.name] : [];
    this.#clusters = after;
    this.#since = revision;
    return clusters;
  }
}

export async function peersAt(store: Store, revision: number): Promise<ReadonlyMap<string, Peer>> {
  const { entries } = await listEntries(store, everyCluster, { revision });
  let clusters: ReadonlyMap<string, Peer> = new Map();
  for (const entry of entries) clusters = withCluster(clusters, clusterIn({ type: 'put', entry }));
  return clusters;
}

interface Told {
  name: string;
  /** Undefined: it is gone. */
  cluster: PhysicalCluster | undefined;
}

/** What an event says of a cluster. */
export function clusterIn({ type, entry }: StoreEvent): Told {
  const { name } = parseKey(clustersStored, entry.key);
  return { name, cluster: type === 'delete' ? undefined : (shownStored(entry) as PhysicalCluster) };
}

/** The very same where what is told changes nothing. */
export function withCluster(
  before: ReadonlyMap<string, Peer>,
  { name, cluster }: Told,
): ReadonlyMap<string, Peer> {
  const peer = cluster && peerOf(cluster);
  if (deepEqual(before.get(name), peer)) return before;
  const after = new Map(before);
  if (peer) after.set(name, peer);
  else after.delete(name);
  return after;
}
