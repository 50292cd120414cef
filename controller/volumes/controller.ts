import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { type Claim, type ClaimRef, statusOf, type Volume } from './decide.ts';

export interface VolumesControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const volumes = { group: '', version: 'v1', resource: 'persistentvolumes' };
const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const byClaim = 'volumes/claim';
const workers = 2;

/**
 * Woken by PersistentVolumes and the claims that they name. Writes the phase of the former, which no physical cluster has;
 * never a claim. Resolves when stopped.
 */
export function runVolumesController(options: VolumesControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Volume>(volumes);
  const named = informers.for<Claim>(claims);
  const cluster = (object: KubeObject) => logicalClusterOf(object);
  all.addIndex(byClaim, (volume) => {
    const { uid, namespace = '', name = '' } = volume.spec?.claimRef ?? {};
    return uid ? [keyOf(cluster(volume), namespace, name)] : [];
  });
  all.on({ add: (_volume, key) => queue.add(key), update: (_now, _old, key) => queue.add(key) });
  const wake = (key: string) => {
    for (const volume of all.byIndex(byClaim, key))
      queue.add(keyOf(cluster(volume), '', volume.metadata.name ?? ''));
  };
  named.on({
    add: (_claim, key) => wake(key),
    update: (_now, _old, key) => wake(key),
    delete: (_claim, key) => wake(key),
  });
  /** What is not in the cache is asked for: whoever made both may have named one that has yet to come. */
  const claimOf = async (key: string, { uid, namespace = '', name = '' }: ClaimRef) => {
    const known = named.get(keyOf(parseKey(key).cluster, namespace, name));
    if (known?.metadata.uid === uid) return known;
    try {
      return await client.get<Claim>(
        claims,
        { cluster: clusterToWrite(informers, key), namespace, name },
        signal,
      );
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      return undefined;
    }
  };
  const reconcile = async (key: string): Promise<undefined> => {
    const volume = all.get(key);
    if (!volume) return;
    const { claimRef } = volume.spec ?? {};
    const status = statusOf(volume, claimRef?.uid ? await claimOf(key, claimRef) : undefined);
    if (!status) return;
    try {
      await commit(
        client,
        volumes,
        volume,
        { ...volume, status },
        { cluster: clusterToWrite(informers, key), signal },
      );
    } catch (error) {
      // Somebody else has written it: that wakes again.
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    }
  };
  const ready = [all.synced, named.synced];
  return runController({ name: 'volumes', queue, workers, reconcile, signal, logger, ready });
}
