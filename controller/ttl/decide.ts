import { isReflected } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';

/**
 * When a Job that has ended is to go, in milliseconds since 1970; undefined: never, not yet, or it goes already. One that
 * is shown from where a CronJob made it is taken away there.
 * https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/
 */
export function expiryOf(job: KubeObject): number | undefined {
  const seconds = numberAt(job, 'spec', 'ttlSecondsAfterFinished');
  if (seconds === undefined || job.metadata.deletionTimestamp !== undefined || isReflected(job))
    return undefined;
  const ended = listAt(job, 'status', 'conditions').find(
    (one) => (at(one, 'type') === 'Complete' || at(one, 'type') === 'Failed') && at(one, 'status') === 'True',
  );
  const since = Date.parse(textAt(ended, 'lastTransitionTime') ?? '');
  return Number.isNaN(since) ? undefined : since + seconds * 1000;
}
