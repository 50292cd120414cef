import { timestamp } from '../../kube/timestamp.ts';
import type { Workload } from '../types.ts';
import { withTransitions } from './children.ts';
import { failureIn } from './failure.ts';
import { bounds, type DeploymentSpec, replicas, sum } from './rollout.ts';

const hourMs = 3_600_000;

interface Numbers {
  replicas: number;
  updatedReplicas: number;
  readyReplicas: number;
  availableReplicas: number;
}

/** `afterMs`: when the progress deadline will have passed. */
export function deploymentStatus(
  deployment: Workload<DeploymentSpec>,
  current: Workload | undefined,
  sets: readonly Workload[],
  now: number,
): { status: Record<string, unknown>; afterMs?: number } {
  const total = (field: string) => sum(sets.map((set) => Number(set.status?.[field] ?? 0)));
  const desired = deployment.spec?.replicas ?? 1;
  const numbers: Numbers = {
    replicas: total('replicas'),
    updatedReplicas: Number(current?.status?.['replicas'] ?? 0),
    readyReplicas: total('readyReplicas'),
    availableReplicas: total('availableReplicas'),
  };
  const enough = numbers.availableReplicas >= desired - bounds(deployment.spec, desired).unavailable;
  const available = {
    type: 'Available',
    status: enough ? 'True' : 'False',
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: enough ? 'Enough replicas are available.' : 'Too few replicas are available.',
  };
  const progress = progressing(deployment, current, numbers, now);
  const conditions = withTransitions(
    [available, progress.condition, ...failureIn([current, ...sets])],
    deployment.status?.['conditions'],
    timestamp(now),
  );
  const moved = conditions.find((condition) => condition['type'] === 'Progressing');
  if (progress.moved && moved) moved['lastUpdateTime'] = timestamp(now);
  const status = {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...numbers,
    unavailableReplicas: Math.max(0, sum(sets.map(replicas)) - numbers.availableReplicas),
    conditions,
  };
  return { status, ...(progress.afterMs !== undefined && { afterMs: Math.min(progress.afterMs, hourMs) }) };
}

interface Progress {
  condition: { type: 'Progressing'; status: string; reason: string; message: string };
  /** Since the last look. */
  moved: boolean;
  afterMs?: number;
}

/** https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status */
function progressing(
  deployment: Workload<DeploymentSpec>,
  current: Workload | undefined,
  numbers: Numbers,
  now: number,
): Progress {
  const say = (status: string, reason: string, message: string) => ({
    type: 'Progressing' as const,
    status,
    reason,
    message,
  });
  const desired = deployment.spec?.replicas ?? 1;
  const { replicas: all, updatedReplicas: updated, availableReplicas: available } = numbers;
  if (deployment.spec?.paused) {
    return { condition: say('Unknown', 'DeploymentPaused', 'The Deployment is paused.'), moved: false };
  }
  if (current && updated === desired && all === desired && available >= desired) {
    return { condition: say('True', 'NewReplicaSetAvailable', 'The rollout is complete.'), moved: false };
  }
  const going = say('True', 'ReplicaSetUpdated', 'The rollout is going on.');
  const last = lastProgress(deployment, now);
  const moved = last === undefined || hasMoved(deployment.status, numbers);
  if (moved) return { condition: going, moved, afterMs: deadlineMs(deployment) };
  const left = last + deadlineMs(deployment) - now;
  if (left > 0) return { condition: going, moved, afterMs: left };
  return {
    condition: say('False', 'ProgressDeadlineExceeded', 'The rollout made no progress in time.'),
    moved,
  };
}

function deadlineMs(deployment: Workload<DeploymentSpec>): number {
  return (deployment.spec?.progressDeadlineSeconds ?? 600) * 1000;
}

/** When the rollout that is going on moved last; undefined when none was going on. */
function lastProgress(deployment: Workload, now: number): number | undefined {
  const before = deployment.status?.['conditions'] as Record<string, string>[] | undefined;
  const condition = before?.find(({ type }) => type === 'Progressing');
  if (condition?.['reason'] !== 'ReplicaSetUpdated' && condition?.['reason'] !== 'ProgressDeadlineExceeded')
    return undefined;
  return Date.parse(condition['lastUpdateTime'] ?? '') || now;
}

function hasMoved(before: Record<string, unknown> | undefined, numbers: Numbers): boolean {
  const was = (field: keyof Numbers) => Number(before?.[field] ?? 0);
  const oldOnes = was('replicas') - was('updatedReplicas');
  return (
    numbers.updatedReplicas > was('updatedReplicas') ||
    numbers.replicas - numbers.updatedReplicas < oldOnes ||
    numbers.readyReplicas > was('readyReplicas') ||
    numbers.availableReplicas > was('availableReplicas')
  );
}
