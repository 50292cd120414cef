import type { Plan, Pod, Workload, WorkloadSpec } from '../types.ts';
import { isActive, isReady, podFor, withTransitions } from './children.ts';

export interface JobSpec extends WorkloadSpec {
  parallelism?: number;
  completions?: number;
  backoffLimit?: number;
  suspend?: boolean;
}

/** Pods until enough have succeeded, or too many have failed. https://kubernetes.io/docs/concepts/workloads/controllers/job/ */
export function decideJob(job: Workload<JobSpec>, pods: readonly Pod[], now: number): Plan<Pod> {
  const at = new Date(now).toISOString().replace(/\.\d+Z/, 'Z');
  const succeeded = pods.filter((pod) => pod.status?.phase === 'Succeeded').length;
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed').length;
  const active = pods.filter(isActive);
  const completions = job.spec?.completions ?? 1;
  const complete = succeeded >= completions;
  const hopeless = failed > (job.spec?.backoffLimit ?? 6);
  const stopped =
    complete || hopeless || job.spec?.suspend === true || job.metadata.deletionTimestamp !== undefined;
  const want = stopped ? 0 : Math.min(job.spec?.parallelism ?? 1, completions - succeeded);
  const conditions = [
    ...(complete
      ? [
          {
            type: 'Complete',
            status: 'True',
            reason: 'CompletionsReached',
            message: 'Enough pods succeeded.',
          },
        ]
      : []),
    ...(hopeless
      ? [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'Too many pods failed.' }]
      : []),
    ...(job.spec?.suspend
      ? [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'The job is suspended.' }]
      : []),
  ];
  return {
    create: Array.from({ length: Math.max(0, want - active.length) }, () => podFor(job)),
    remove: active.slice(want).map((pod) => pod.metadata.name ?? ''),
    scale: [],
    status: {
      ...(job.spec?.suspend ? {} : { startTime: job.status?.['startTime'] ?? at }),
      ...(complete && { completionTime: job.status?.['completionTime'] ?? at }),
      active: Math.min(active.length, want),
      ready: active.filter(isReady).length,
      succeeded,
      failed,
      terminating: 0,
      uncountedTerminatedPods: {},
      ...(conditions.length > 0 && {
        conditions: withTransitions(conditions, job.status?.['conditions'], at),
      }),
    },
  };
}
