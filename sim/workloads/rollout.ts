import { scaledIntOrPercent } from '../../kube/int-or-string.ts';
import type { Workload, WorkloadSpec } from '../types.ts';
import { numberOf } from './replicasets.ts';

export interface DeploymentSpec extends WorkloadSpec {
  paused?: boolean;
  revisionHistoryLimit?: number;
  progressDeadlineSeconds?: number;
  strategy?: {
    type?: string;
    rollingUpdate?: { maxSurge?: number | string | null; maxUnavailable?: number | string | null } | null;
  };
}

/** How many replicas each ReplicaSet should have now. */
export interface Goal {
  current: number;
  old: Map<Workload, number>;
}

/** The next step of a rollout, from what the ReplicaSets say of themselves. */
export function rollout(
  deployment: Workload<DeploymentSpec>,
  current: Workload | undefined,
  old: readonly Workload[],
): Goal {
  const desired = deployment.spec?.replicas ?? 1;
  if (deployment.spec?.paused) return whilePaused(deployment.spec, desired, current, old);
  if (deployment.spec?.strategy?.type === 'Recreate') return recreate(desired, current, old);
  return rolling(deployment.spec, desired, current, old);
}

function rolling(
  spec: DeploymentSpec | undefined,
  desired: number,
  current: Workload | undefined,
  old: readonly Workload[],
): Goal {
  const { surge, unavailable } = bounds(spec, desired);
  const have = current ? replicas(current) : 0;
  const total = have + sum(old.map(replicas));
  const room = Math.max(0, desired + surge - total);
  const next = have >= desired ? desired : Math.min(desired, have + room);
  const floor = desired - unavailable;
  const starting = Math.max(0, have - (current ? available(current) : 0));
  // What is not ready may go too, but not faster than the newcomers start.
  const removable = Math.max(0, total - floor - starting);
  const goal = new Map(old.map((set) => [set, replicas(set)]));
  const idle = takeFrom(goal, removable, (set) => replicas(set) - available(set));
  const serving = (current ? Math.min(next, available(current)) : 0) + sum(old.map(available));
  const spare = Math.max(0, Math.min(removable - idle, serving - floor));
  takeFrom(goal, spare, (set) => goal.get(set) ?? 0);
  return { current: next, old: goal };
}

/** Lowers the goals, oldest revision first, by at most `limit` in all and `of(set)` each; says by how much. */
function takeFrom(goal: Map<Workload, number>, limit: number, of: (set: Workload) => number): number {
  let left = limit;
  for (const set of [...goal.keys()].sort((a, b) => numberOf(a) - numberOf(b))) {
    const drop = Math.max(0, Math.min(of(set), left));
    goal.set(set, (goal.get(set) ?? 0) - drop);
    left -= drop;
  }
  return limit - left;
}

/** The new ones start when the last old pod is gone, those that are still stopping included. */
function recreate(desired: number, current: Workload | undefined, old: readonly Workload[]): Goal {
  const gone = old.every(
    (set) =>
      replicas(set) === 0 &&
      Number(set.status?.['replicas'] ?? 0) + Number(set.status?.['terminatingReplicas'] ?? 0) === 0 &&
      Number(set.status?.['observedGeneration'] ?? 0) >= (set.metadata.generation ?? 0),
  );
  const have = current ? replicas(current) : 0;
  return { current: gone ? desired : Math.min(have, desired), old: new Map(old.map((set) => [set, 0])) };
}

/**
 * Nothing rolls, but scaling still counts: the largest ReplicaSet takes the difference. In the middle of a rolling update
 * there may be as many as that may have.
 */
function whilePaused(
  spec: DeploymentSpec | undefined,
  desired: number,
  current: Workload | undefined,
  old: readonly Workload[],
): Goal {
  const all = [...(current ? [current] : []), ...old];
  const goal = new Map(all.map((set) => [set, replicas(set)]));
  const bySize = [...all].sort((a, b) => replicas(b) - replicas(a) || numberOf(b) - numberOf(a));
  const isHalfWay = all.filter((set) => replicas(set) > 0).length > 1 && spec?.strategy?.type !== 'Recreate';
  const surge = isHalfWay && desired > 0 ? bounds(spec, desired).surge : 0;
  let missing = desired + surge - sum(all.map(replicas));
  for (const set of bySize) {
    const next = Math.max(0, replicas(set) + missing);
    missing -= next - replicas(set);
    goal.set(set, next);
  }
  return {
    current: (current && goal.get(current)) ?? 0,
    old: new Map(old.map((set) => [set, goal.get(set) ?? 0])),
  };
}

export function bounds(
  spec: DeploymentSpec | undefined,
  desired: number,
): { surge: number; unavailable: number } {
  if (spec?.strategy?.type === 'Recreate') return { surge: 0, unavailable: desired };
  const update = spec?.strategy?.rollingUpdate;
  const surge = scaledIntOrPercent(update?.maxSurge ?? '25%', desired, 'up');
  const unavailable = scaledIntOrPercent(update?.maxUnavailable ?? '25%', desired, 'down');
  return { surge, unavailable: Math.min(desired, surge === 0 && unavailable === 0 ? 1 : unavailable) };
}

export function replicas(set: Workload): number {
  return set.spec?.replicas ?? 1;
}

/** Never more than it is asked to have: its status may be older than its spec. */
function available(set: Workload): number {
  return Math.min(replicas(set), Number(set.status?.['availableReplicas'] ?? 0));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
