import { placedKind } from '../../cluster/kinds.ts';
import { rootCluster } from '../../cluster/names.ts';
import { accessOf, accountOf, type PodAccess } from '../../cluster/pod-access.ts';
import { podSpecOf } from '../../cluster/pod-spec.ts';
import type { InClusterConfig, PhysicalCluster, Placement } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry, Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored, shownStored } from '../registry/codec.ts';
import { collectionRange, parseKey } from '../registry/keys.ts';
import { readObject } from '../registry/rewrite.ts';
import { besideOf, clusterIn, placeOfAccount } from './beside.ts';
import { accountsStored, addressIn, clustersStored, placementsStored } from './places.ts';

/** A Placement and its key. */
interface Placed {
  key: string;
  placement: Placement;
}

/** How the pods of what is placed reach their logical cluster, as it and its ServiceAccount were at `revision`. */
export type Accessing = (
  placed: Placed,
  root: Entry | undefined,
  revision: number,
) => Promise<PodAccess | undefined>;

/** For which Placements, by their keys, it may be another way by now; in which logical cluster that was said. */
interface Reached {
  cluster: string;
  concerns: (key: string) => boolean;
}

/** Most of what is written of an account, of a token's Secret or of labels, says nothing of its pods. */
function isAsBefore({ type, entry, previous }: StoreEvent): boolean {
  if (type === 'delete' || previous === undefined) return false;
  const said = ({ metadata, automountServiceAccountToken }: KubeObject) =>
    [metadata.uid, automountServiceAccountToken] as const;
  return deepEqual(said(shownStored(previous)), said(shownStored(entry)));
}

/** How pods on one physical cluster reach their logical clusters, as its PhysicalCluster says. */
export class Reach {
  readonly #store: Store;
  readonly #cluster: string;
  #config: InClusterConfig | undefined;

  constructor(store: Store, cluster: string) {
    this.#store = store;
    this.#cluster = cluster;
  }

  async load(revision: number): Promise<void> {
    const address = { resource: clustersStored, cluster: rootCluster, namespace: '', name: this.#cluster };
    const found = await readObject<PhysicalCluster>(this.#store, address, { revision });
    this.#config = found?.spec?.inClusterConfig;
  }

  /** Takes an event in. Undefined: it changes nothing of what `now` answers. */
  feed(event: StoreEvent): Reached | undefined {
    const what = besideOf(event.entry.key);
    if (what === 'account') {
      if (!this.#config || isAsBefore(event)) return undefined;
      const { logical, namespace } = placeOfAccount(event.entry.key);
      const there = collectionRange(placementsStored, logical, namespace).start;
      return { cluster: logical, concerns: (key) => key.startsWith(there) };
    }
    if (what !== 'cluster') return undefined;
    const { name, cluster } = clusterIn(event);
    const config = cluster?.spec?.inClusterConfig;
    if (name !== this.#cluster || deepEqual(config, this.#config)) return undefined;
    this.#config = config;
    return { cluster: rootCluster, concerns: () => true };
  }

  /** As the PhysicalCluster is now, however late it is asked. */
  now(): Accessing {
    const config = this.#config;
    return async ({ key, placement }, entry, revision) => {
      const { ref } = placement.spec ?? {};
      if (!config || !entry || !ref || placedKind(ref)?.role !== 'workload') return undefined;
      const { cluster: logical, namespace } = parseKey(placementsStored, key);
      const spec = podSpecOf(decodeStored(entry), ref.rule);
      const address = addressIn({ logical, namespace }, { ...accountsStored, name: accountOf(spec) });
      return accessOf(config, spec, await readObject(this.#store, address, { revision }));
    };
  }
}
