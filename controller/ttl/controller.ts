import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { expiryOf } from './decide.ts';

export interface TtlControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const jobs = { group: 'batch', version: 'v1', resource: 'jobs' };
const workers = 2;
/** Timers know no later time; what is due later is looked at again. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * Woken by Jobs that have ended and are to go after a while. Writes only their deletion, as they are then: one whose
 * time was changed meanwhile, or another of its name, stays. Resolves when stopped.
 */
export async function runTtlController({
  client,
  informers,
  signal,
  logger,
}: TtlControllerOptions): Promise<void> {
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for(jobs);
  const wake = (job: KubeObject, key: string) => {
    if (expiryOf(job) !== undefined) queue.add(key);
  };
  all.on({ add: wake, update: (job, _old, key) => wake(job, key) });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const { namespace, name } = parseKey(key);
    const at = { cluster: clusterToWrite(informers, key), namespace, name };
    try {
      const live = await client.get(jobs, at, signal);
      const expiry = expiryOf(live);
      if (expiry === undefined) return undefined;
      const left = expiry - Date.now();
      if (left > 0) return { after: Math.min(left, longestMs) };
      const { uid = '', resourceVersion = '' } = live.metadata;
      const how = { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } } as const;
      await client.delete(jobs, at, how, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    return undefined;
  };
  await runController({
    name: 'ttl after finished',
    queue,
    workers,
    reconcile,
    signal,
    logger,
    ready: [all.synced],
  });
}
