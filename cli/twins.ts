import type { Client } from '../client/client.ts';
import { identifyingNamespace } from '../cluster/identity.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { isStatusError } from '../kube/status.ts';
import { FailedError } from './errors.ts';
import { namespaces, physicalClusters } from './resources.ts';

/** Throws FailedError where `target` is registered under another name already, or is a logical cluster of this Atoll. */
export async function refuseTwin(client: Client, target: Client, name: string): Promise<void> {
  const uid = await uidOf(target);
  if (uid === undefined) return;
  const { items } = await client.list<PhysicalCluster>(physicalClusters);
  const twin = items.find(({ metadata, status }) => status?.clusterUID === uid && metadata.name !== name);
  if (twin) {
    const known = twin.metadata.name;
    throw new FailedError(`this is cluster ${known}, which is registered already: nothing was changed`);
  }
  const fieldSelector = `metadata.name=${identifyingNamespace}`;
  const own = await client.list(namespaces, { cluster: '*', fieldSelector });
  if (own.items.some(({ metadata }) => metadata.uid === uid))
    throw new FailedError('this is Atoll itself, which cannot be a physical cluster of its own');
}

async function uidOf(target: Client): Promise<string | undefined> {
  try {
    return (await target.get(namespaces, { name: identifyingNamespace })).metadata.uid;
  } catch (error) {
    // Who may not ask joins all the same: the syncer says what it finds.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}
