import type { Client } from '../client/client.ts';
import { managedLabel, managedValue } from '../cluster/names.ts';
import { readLocator } from '../syncer/ownership.ts';
import { namespaces, physicalClusters } from './resources.ts';

/**
 * Under which uids this physical cluster was registered before, as our namespaces there say; not those of clusters that
 * are registered now. Names prove nothing: a syncer takes over only what bears the uid of an object that it knows.
 */
export async function formerUids(atoll: Client, physical: Client): Promise<string[]> {
  const labelSelector = `${managedLabel}=${managedValue}`;
  const [there, known] = await Promise.all([
    physical.list(namespaces, { labelSelector }),
    atoll.list(physicalClusters),
  ]);
  const registered = new Set(known.items.map(({ metadata }) => metadata.uid));
  const uids = there.items.flatMap((namespace) => readLocator(namespace)?.syncer ?? []);
  return [...new Set(uids)].filter((uid) => !registered.has(uid)).sort();
}
