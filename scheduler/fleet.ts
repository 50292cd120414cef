import type { Informer } from '../client/informer.ts';
import { identifyingNamespace, whyNotTaken } from '../cluster/identity.ts';
import { isDrained, isForgotten } from '../cluster/life.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { firstHeard } from './tolerations.ts';
import { rebalances } from './turns.ts';

/** What physical clusters are to all Namespaces alike. */
export interface Fleet {
  list: readonly PhysicalCluster[];
  /** One that is forgotten is as if it were gone: neither data nor want of another place holds anything there. */
  named: ReadonlyMap<string, PhysicalCluster>;
  /** See firstHeard. */
  heard: number;
  /** `<namespace>/<name>` of the Secrets that hold their credentials. */
  credentials: ReadonlySet<string>;
  /** All that is on these has to leave. */
  drained: readonly string[];
  /** What need not be there may leave these. */
  rebalanced: readonly (readonly [string, PhysicalCluster])[];
}

/** The clusters, and which of them nothing may be placed on, with the reason. */
export interface Known {
  fleet: Fleet;
  notTaken: ReadonlyMap<string, string>;
}

export function fleetOf(list: readonly PhysicalCluster[]): Fleet {
  const named = new Map<string, PhysicalCluster>();
  const credentials = new Set<string>();
  for (const cluster of list) {
    if (!isForgotten(cluster)) named.set(cluster.metadata.name ?? '', cluster);
    const { namespace, name } = cluster.spec?.kubeconfigSecretRef ?? {};
    if (namespace !== undefined) credentials.add(`${namespace}/${name}`);
  }
  const rebalanced = [...named].filter(([, cluster]) => rebalances(cluster));
  const drained = [...named].flatMap(([name, cluster]) => (isDrained(cluster) ? [name] : []));
  return { list, named, heard: firstHeard(list), credentials, drained, rebalanced };
}

/** Made anew only when one of them has changed: a decision of any Namespace asks for it. */
export function followFleet(
  clusters: Informer<PhysicalCluster>,
  namespaces: Informer,
  isOwn: (uid: string) => boolean,
): () => Known {
  let known: Known | undefined;
  const forget = () => {
    known = undefined;
  };
  const identified = ({ metadata: { name } }: KubeObject) => {
    if (name === identifyingNamespace) forget();
  };
  clusters.on({ add: forget, update: forget, delete: forget });
  namespaces.on({ add: identified, update: identified, delete: identified });
  return () => {
    known ??= { fleet: fleetOf(clusters.list()), notTaken: notTaken(clusters.list(), isOwn) };
    return known;
  };
}

/** Each cluster under one name only, and never a logical one of ours: see cluster/identity.ts; and none that is given up. */
export function notTaken(
  clusters: readonly PhysicalCluster[],
  isOwn: (uid: string) => boolean,
): Map<string, string> {
  const byUid = new Map<string, PhysicalCluster[]>();
  for (const cluster of clusters) {
    const { clusterUID } = cluster.status ?? {};
    if (!clusterUID) continue;
    const same = byUid.get(clusterUID);
    if (same) same.push(cluster);
    else byUid.set(clusterUID, [cluster]);
  }
  const found = new Map<string, string>();
  for (const same of byUid.values())
    for (const cluster of same) {
      const why = whyNotTaken(cluster, same, isOwn);
      if (why !== undefined) found.set(cluster.metadata.name ?? '', why);
    }
  for (const cluster of clusters)
    if (isForgotten(cluster)) found.set(cluster.metadata.name ?? '', 'it is being removed, and given up');
  return found;
}
