import type { Client } from '../client/client.ts';
import { managedLabel, managedValue } from '../cluster/names.ts';
import { readLocator } from '../syncer/ownership.ts';
import { namespaces, physicalClusters } from './resources.ts';

/**
 * Under which uids this Atoll registered this physical cluster before, as its namespaces there say: one at least was made
 * for a Namespace of ours, whose uid no other Atoll has. What another one runs there bears our label too, and would be
 * removed as nobody's. Not the uids of clusters that are registered now.
 */
export async function formerUids(atoll: Client, physical: Client): Promise<string[]> {
  const labelSelector = `${managedLabel}=${managedValue}`;
  const [there, ours, known] = await Promise.all([
    physical.list(namespaces, { labelSelector }),
    atoll.list(namespaces, { cluster: '*' }),
    atoll.list(physicalClusters),
  ]);
  const uids = new Set(ours.items.map(({ metadata }) => metadata.uid));
  const registered = new Set(known.items.map(({ metadata }) => metadata.uid));
  const former = there.items
    .flatMap((namespace) => readLocator(namespace) ?? [])
    .filter(({ syncer, uid }) => uids.has(uid) && !registered.has(syncer));
  return [...new Set(former.map(({ syncer }) => syncer))].sort();
}
