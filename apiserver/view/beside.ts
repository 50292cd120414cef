import { type Peer, peerOf } from '../../cluster/peers.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { collectionRange, parseKey } from '../registry/keys.ts';
import { listEntries } from '../registry/rewrite.ts';
import type { Owned } from './owned.ts';
import { clustersStored, type NamespacePlace, slicesStored } from './places.ts';

const allSlices = collectionRange(slicesStored, '*', '').start;
const allClusters = collectionRange(clustersStored, '*', '').start;

const everyCluster = { resource: clustersStored, cluster: '*', namespace: '' };

/** What is no Placement, and concerns clusters that have no share of it: see Peers. */
export function besideOf(key: string): 'slice' | 'cluster' | undefined {
  if (key.startsWith(allSlices)) return 'slice';
  return key.startsWith(allClusters) ? 'cluster' : undefined;
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

  async load(store: Store, revision: number): Promise<void> {
    this.#clusters = await peersAt(store, revision);
    this.#since = revision;
  }

  /** As of `revision`, which must have been reached; undefined: they were others then. */
  clusters(revision: number): ReadonlyMap<string, Peer> | undefined {
    return revision >= this.#since ? this.#clusters : undefined;
  }

  /** Of a slice those that are in a network and have something in its namespace; of a cluster all. */
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
    const after = withCluster(this.#clusters, event);
    if (after === this.#clusters) return [];
    this.#clusters = after;
    this.#since = revision;
    return clusters;
  }
}

export async function peersAt(store: Store, revision: number): Promise<ReadonlyMap<string, Peer>> {
  const { entries } = await listEntries(store, everyCluster, { revision });
  let clusters: ReadonlyMap<string, Peer> = new Map();
  for (const entry of entries) clusters = withCluster(clusters, { type: 'put', entry });
  return clusters;
}

/** The very same where the event of a cluster changes nothing. */
export function withCluster(
  before: ReadonlyMap<string, Peer>,
  { type, entry }: StoreEvent,
): ReadonlyMap<string, Peer> {
  const { name } = parseKey(clustersStored, entry.key);
  const peer = type === 'delete' ? undefined : peerOf(shownStored(entry) as PhysicalCluster);
  if (deepEqual(before.get(name), peer)) return before;
  const after = new Map(before);
  if (peer) after.set(name, peer);
  else after.delete(name);
  return after;
}
