import type { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isLost, lostStatus } from '../cluster/lost.ts';
import { rootCluster } from '../cluster/names.ts';
import { isHeld, reflectedFrom } from '../cluster/reflected.ts';
import { graceLeft, silenceOf, silentAfterMs } from '../cluster/silence.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';
import { isRecord } from '../kube/untyped.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const byCluster = 'syncer/reflected-from';
/** A cluster of many thousand pods falls silent at once; nobody needs to know of all of them in the same second. */
const workers = 4;
const pauseMs = 10;

export interface LostOptions {
  /** Across all logical clusters. */
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** As in SilenceOptions. */
  silentMs?: number;
}

/**
 * Reflected pods of a cluster that is not heard of become Unknown after its grace. Only its syncer knows what they are
 * when it is heard of again: it then puts each that stands as lost anew.
 */
export async function runLost(options: LostOptions): Promise<void> {
  const { client, informers, signal, logger, silentMs = silentAfterMs } = options;
  const clusters = physicalClusterInformer(informers);
  const reflected = informers.for(pods);
  reflected.addIndex(byCluster, reflectedFrom);
  const queue = new WorkQueue();
  const isSilent = (cluster: PhysicalCluster) => silenceOf(cluster) !== undefined;
  const wake = (cluster: PhysicalCluster) => {
    for (const pod of reflected.byIndex(byCluster, cluster.metadata.name ?? '')) queue.add(objectKey(pod));
  };
  clusters.on({
    add: (cluster) => isSilent(cluster) && wake(cluster),
    update: (cluster, old) => isSilent(cluster) && !isSilent(old) && wake(cluster),
  });
  const look = (_: unknown, key: string) => queue.add(key);
  reflected.on({ add: look, update: (_pod, _old, key) => queue.add(key) });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const pod = reflected.get(key);
    const [from] = pod ? reflectedFrom(pod) : [];
    if (
      !pod ||
      from === undefined ||
      isHeld(pod) ||
      isLost(pod) ||
      isFinished(pod) ||
      !isRecord(pod['status'])
    )
      return undefined;
    const cluster = clusters.get(keyOf(rootCluster, '', from));
    const silence = cluster && silenceOf(cluster);
    if (!silence) return undefined;
    const after = graceLeft(silence, Date.now(), silentMs);
    if (after > 0) return { after };
    const status = lostStatus(pod['status'], silence);
    try {
      await commit(client, pods, pod, { ...pod, status }, { cluster: parseKey(key).cluster, signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    await sleep(pauseMs, signal);
    return undefined;
  };
  const ready = [clusters.synced, reflected.synced];
  await runController({ name: 'syncer-lost', queue, workers, reconcile, signal, logger, ready });
}
