import { timestamp } from '../../kube/timestamp.ts';
import type { Plan, Pod, Workload, WorkloadSpec } from '../types.ts';
import { isActive, isReady, isTerminating, podFor, withTransitions } from './children.ts';
import { indexed, indexKey, indexOf, ranges } from './job-index.ts';

export interface JobSpec extends WorkloadSpec {
  parallelism?: number;
  completions?: number;
  completionMode?: string;
  backoffLimit?: number;
  activeDeadlineSeconds?: number;
  suspend?: boolean;
}

/**
 * Pods until enough have succeeded, or too many have failed. The end is told twice, as 1.36 does: the criterion at
 * once (SuccessCriteriaMet, FailureTarget), the end (Complete, Failed) when no pod runs any more.
 * https://kubernetes.io/docs/concepts/workloads/controllers/job/
 */
export function decideJob(job: Workload<JobSpec>, pods: readonly Pod[], now: number): Plan<Pod> {
  const counted = tally(job, pods);
  const verdict = judge(job, counted, now);
  const suspended = job.spec?.suspend === true;
  const held = job.metadata.deletionTimestamp !== undefined;
  const want = verdict || suspended ? 0 : wanted(job, counted);
  const missing = held ? 0 : Math.max(0, want - counted.active.length);
  const plan: Plan<Pod> = {
    create: create(job, counted, missing),
    remove: held ? [] : counted.active.slice(want).map((pod) => pod.metadata.name ?? ''),
    patch: [],
    status: statusOf(job, counted, verdict, now),
  };
  const deadline = deadlineOf(job);
  if (!verdict && !suspended && deadline !== undefined && deadline > now) plan.afterMs = deadline - now;
  return plan;
}

interface Tally {
  active: Pod[];
  terminating: number;
  succeeded: number;
  failed: number;
  /** Of an Indexed Job. */
  completed: Set<number>;
}

/** Counters never go back: a finished pod may be deleted and stays counted. */
function tally(job: Workload<JobSpec>, pods: readonly Pod[]): Tally {
  const inPhase = (phase: string) => pods.filter((pod) => pod.status?.phase === phase);
  const completed = indexed(job)
    ? new Set(ranges.parse(job.status?.['completedIndexes']))
    : new Set<number>();
  const succeeded = inPhase('Succeeded');
  if (indexed(job)) for (const pod of succeeded) completed.add(indexOf(pod));
  const before = (field: string) => Number(job.status?.[field] ?? 0);
  return {
    active: pods.filter(isActive),
    terminating: pods.filter(isTerminating).length,
    succeeded: indexed(job) ? completed.size : Math.max(before('succeeded'), succeeded.length),
    failed: Math.max(before('failed'), inPhase('Failed').length),
    completed,
  };
}

interface Verdict {
  success: boolean;
  reason: string;
  message: string;
}

function judge(job: Workload<JobSpec>, counted: Tally, now: number): Verdict | undefined {
  const completions = job.spec?.completions;
  const enough =
    completions === undefined
      ? counted.succeeded > 0 && counted.active.length === 0
      : counted.succeeded >= completions;
  if (counted.failed > (job.spec?.backoffLimit ?? 6))
    return { success: false, reason: 'BackoffLimitExceeded', message: 'Too many pods failed.' };
  if (enough) return { success: true, reason: 'CompletionsReached', message: 'Enough pods succeeded.' };
  const deadline = deadlineOf(job);
  if (deadline === undefined || deadline > now || job.spec?.suspend) return undefined;
  return { success: false, reason: 'DeadlineExceeded', message: 'It was active for longer than it may be.' };
}

function deadlineOf(job: Workload<JobSpec>): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  const started = Date.parse(String(job.status?.['startTime'] ?? ''));
  return seconds === undefined || Number.isNaN(started) ? undefined : started + seconds * 1000;
}

function wanted(job: Workload<JobSpec>, counted: Tally): number {
  const parallelism = job.spec?.parallelism ?? 1;
  const completions = job.spec?.completions;
  // A work queue: once one has succeeded no more are started.
  if (completions === undefined)
    return counted.succeeded > 0 ? Math.min(counted.active.length, parallelism) : parallelism;
  return Math.max(0, Math.min(parallelism, completions - counted.succeeded));
}

function create(job: Workload<JobSpec>, counted: Tally, missing: number): Pod[] {
  if (!indexed(job)) return Array.from({ length: missing }, () => podFor(job));
  const taken = new Set([...counted.completed, ...counted.active.map(indexOf)]);
  const free = Array.from({ length: job.spec?.completions ?? 0 }, (_, i) => i).filter((i) => !taken.has(i));
  return free.slice(0, missing).map((index) => {
    const mark = { [indexKey]: String(index) };
    return podFor(job, { labels: mark, annotations: mark });
  });
}

function statusOf(
  job: Workload<JobSpec>,
  counted: Tally,
  verdict: Verdict | undefined,
  now: number,
): Record<string, unknown> {
  const at = timestamp(now);
  const suspended = job.spec?.suspend === true;
  const ended = verdict !== undefined && counted.active.length + counted.terminating === 0;
  const conditions = conditionsOf(job, verdict, ended);
  return {
    startTime: suspended ? null : (job.status?.['startTime'] ?? at),
    ...(ended && verdict.success && { completionTime: job.status?.['completionTime'] ?? at }),
    active: counted.active.length,
    ready: counted.active.filter(isReady).length,
    succeeded: counted.succeeded,
    failed: counted.failed,
    terminating: counted.terminating,
    ...(indexed(job) && { completedIndexes: ranges.format(counted.completed) }),
    uncountedTerminatedPods: {},
    ...(conditions.length > 0 && { conditions: probed(conditions, job.status?.['conditions'], at) }),
  };
}

function conditionsOf(job: Workload<JobSpec>, verdict: Verdict | undefined, ended: boolean) {
  const conditions: { type: string; status: string; reason: string; message: string }[] = [];
  const before = job.status?.['conditions'] as { type: string }[] | undefined;
  if (job.spec?.suspend && !verdict) {
    conditions.push({
      type: 'Suspended',
      status: 'True',
      reason: 'JobSuspended',
      message: 'It is suspended.',
    });
  } else if (before?.some(({ type }) => type === 'Suspended')) {
    conditions.push({ type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'It was resumed.' });
  }
  if (!verdict) return conditions;
  const { success, reason, message } = verdict;
  const told = (type: string) => conditions.push({ type, status: 'True', reason, message });
  told(success ? 'SuccessCriteriaMet' : 'FailureTarget');
  if (ended) told(success ? 'Complete' : 'Failed');
  return conditions;
}

/** A Job's conditions name the time of their last probe, not of their last update. */
function probed(conditions: Parameters<typeof withTransitions>[0], before: unknown, at: string) {
  return withTransitions(conditions, before, at).map(({ lastUpdateTime: _, ...condition }) => ({
    ...condition,
    lastProbeTime: condition['lastTransitionTime'],
  }));
}
