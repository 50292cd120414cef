import { keyOf, logicalClusterOf } from '../../client/url.ts';
import { isReflected } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';

/** The CronJob that controls it. */
export function cronJobOf(job: KubeObject): { name: string; uid: string } | undefined {
  const owner = job.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'CronJob' ? owner : undefined;
}

/** Of the CronJob that controls it, with its uid for its name: what names one of another Namespace, or logical cluster, is none of its Jobs. */
export function cronJobKeys(job: KubeObject): string[] {
  const { uid } = cronJobOf(job) ?? {};
  return uid === undefined ? [] : [keyOf(logicalClusterOf(job), job.metadata.namespace ?? '', uid)];
}

/** How it ended: `Complete`, `Failed`, or not yet. */
export function endOf(job: KubeObject): string | undefined {
  const ended = listAt(job, 'status', 'conditions').find(
    (one) => (at(one, 'type') === 'Complete' || at(one, 'type') === 'Failed') && at(one, 'status') === 'True',
  );
  return textAt(ended, 'type');
}

const limits = [
  ['Complete', 'successfulJobsHistoryLimit'],
  ['Failed', 'failedJobsHistoryLimit'],
] as const;

/**
 * Of a CronJob's Jobs those that somebody made here, as `kubectl create job --from` does: the controller where the CronJob
 * runs does not know them. `over`: they are the oldest, and more than are to be kept. What is shown from where it runs
 * counts, and is taken away there. `succeeded`: when the last one did.
 */
export function historyOf(
  cronJob: KubeObject,
  jobs: readonly KubeObject[],
): { succeeded?: string; over: KubeObject[] } {
  const own = jobs.filter((job) => !isReflected(job));
  const times = own
    .filter((job) => endOf(job) === 'Complete')
    .flatMap((job) => textAt(job, 'status', 'completionTime') ?? [])
    .filter((time) => !Number.isNaN(Date.parse(time)));
  const [succeeded] = times.sort((a, b) => Date.parse(b) - Date.parse(a));
  const over = limits.flatMap(([end, field]) => {
    const limit = numberAt(cronJob, 'spec', field);
    const ended = jobs.filter((job) => endOf(job) === end).sort(byStart);
    return limit === undefined ? [] : ended.slice(0, Math.max(ended.length - limit, 0));
  });
  return {
    ...(succeeded !== undefined && { succeeded }),
    over: over.filter((job) => own.includes(job) && job.metadata.deletionTimestamp === undefined),
  };
}

function byStart(a: KubeObject, b: KubeObject): number {
  const start = (job: KubeObject) => Date.parse(textAt(job, 'status', 'startTime') ?? '') || 0;
  return start(a) - start(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}
