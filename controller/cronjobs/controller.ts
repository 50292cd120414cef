import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, parseKey } from '../../client/url.ts';
import { isReflected } from '../../cluster/reflected.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { textAt } from '../../kube/untyped.ts';
import { commit } from '../commit.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { cronJobKeys, cronJobOf, endOf, historyOf } from './decide.ts';

export interface CronJobsControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const jobs = { group: 'batch', version: 'v1', resource: 'jobs' };
const workers = 2;
const ofCronJob = 'ofCronJob';

/**
 * Woken by Jobs of a CronJob that have ended. Writes when the last of those that somebody made here succeeded, where that
 * is later than what the CronJob says, and deletes those that are more than it keeps. Resolves when stopped.
 */
export function runCronJobsController({
  client,
  informers,
  signal,
  logger,
}: CronJobsControllerOptions): Promise<void> {
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for(jobs);
  all.addIndex(ofCronJob, (job) => cronJobKeys(job));
  const wake = (job: KubeObject, key: string) => {
    const owner = cronJobOf(job);
    const { cluster, namespace } = parseKey(key);
    const beside = cronJobKeys(job).flatMap((one) => all.byIndex(ofCronJob, one));
    if (owner && endOf(job) !== undefined && beside.some((one) => !isReflected(one)))
      queue.add(keyOf(cluster, namespace, owner.name));
  };
  all.on({ add: wake, update: (job, _old, key) => wake(job, key) });
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster: id, namespace, name } = parseKey(key);
    const cluster = clusterToWrite(informers, key);
    try {
      const cronJob = await client.get(cronJobs, { cluster, namespace, name }, signal);
      const { uid = '', deletionTimestamp } = cronJob.metadata;
      const { succeeded, over } = historyOf(cronJob, all.byIndex(ofCronJob, keyOf(id, namespace, uid)));
      await commit(client, cronJobs, cronJob, withSuccess(cronJob, succeeded), { cluster, signal });
      if (deletionTimestamp !== undefined) return;
      for (const { metadata } of over) {
        const { name: job = '', uid: of = '', resourceVersion = '' } = metadata;
        const preconditions = { uid: of, resourceVersion };
        const how = { propagationPolicy: 'Background', preconditions } as const;
        await client.delete(jobs, { cluster, namespace, name: job }, how, signal);
      }
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };
  const ready = [all.synced];
  return runController({ name: 'cron jobs', queue, workers, reconcile, signal, logger, ready });
}

function withSuccess(cronJob: KubeObject, succeeded: string | undefined): KubeObject {
  const said = Date.parse(textAt(cronJob.status, 'lastSuccessfulTime') ?? '');
  if (succeeded === undefined || said >= Date.parse(succeeded)) return cronJob;
  return { ...cronJob, status: { ...(cronJob.status as object), lastSuccessfulTime: succeeded } };
}
