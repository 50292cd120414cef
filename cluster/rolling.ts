import { IntOrStringError, scaledIntOrPercent } from '../kube/int-or-string.ts';
import { at, numberAt, textAt } from '../kube/untyped.ts';
import type { Share } from './types.ts';

type Spec = Record<string, unknown>;

/** How many pods there may be more than replicas, and how many fewer may be available, at a time. */
export interface Budget {
  maxSurge: number;
  maxUnavailable: number;
}

/** Of a Deployment's spec with so many replicas, as the deployment controller's ResolveFenceposts has it. */
export function fenceposts(spec: unknown, total = numberAt(spec, 'replicas') ?? 1): Budget {
  const rolling = at(spec, 'strategy', 'rollingUpdate');
  const maxSurge = resolve(at(rolling, 'maxSurge'), total, 'up');
  const maxUnavailable = resolve(at(rolling, 'maxUnavailable'), total, 'down');
  return { maxSurge, maxUnavailable: maxSurge + maxUnavailable === 0 ? 1 : maxUnavailable };
}

/** Absent: the default of 25 %. */
function resolve(value: unknown, total: number, rounding: 'up' | 'down'): number {
  const written = typeof value === 'number' || typeof value === 'string' ? value : '25%';
  try {
    return Math.max(0, Math.min(1_000_000, scaledIntOrPercent(written, total, rounding)));
  } catch (error) {
    if (error instanceof IntOrStringError) return 0;
    throw error;
  }
}

/**
 * A share of a rolling update applies to that strategy only; Recreate has no budget to divide. What has no turn is paused,
 * which scales still: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-rollout-of-a-deployment
 * Where what the user wrote comes to the same there, that stays: a workload that moves is not applied anew for it.
 */
export function withStrategy(spec: Spec, share: Share): Spec {
  const { maxSurge, maxUnavailable, paused } = share;
  if (maxSurge === undefined && maxUnavailable === undefined) return spec;
  if (textAt(spec, 'strategy', 'type') === 'Recreate' || isAsWritten(spec, share)) return spec;
  const rollingUpdate = {
    ...(maxSurge !== undefined && { maxSurge }),
    ...(maxUnavailable !== undefined && { maxUnavailable }),
  };
  return { ...spec, strategy: { type: 'RollingUpdate', rollingUpdate }, ...(paused === true && { paused }) };
}

/** What is not said is anybody's there: whoever paused it on the cluster would keep it from every rollout that comes. */
export function toldToRoll(spec: Spec): Spec {
  return { paused: false, ...spec };
}

/** An autoscaler changes what a percentage comes to. */
function isAsWritten(spec: Spec, { maxSurge, maxUnavailable, paused, replicas, scaled }: Share): boolean {
  if (paused || scaled !== undefined || replicas === undefined) return false;
  const written = fenceposts(spec, replicas);
  return written.maxSurge === maxSurge && written.maxUnavailable === maxUnavailable;
}

/** Beyond every ordinal, also those that an autoscaler adds. */
const everyOrdinal = 2 ** 31 - 1;

/** A set that has no turn updates none of its pods. */
export function inTurn(spec: Spec, { paused }: Share): Spec {
  const strategy = at(spec, 'updateStrategy');
  if (paused !== true || at(strategy, 'type') === 'OnDelete') return spec;
  const rolling = { ...(at(strategy, 'rollingUpdate') as Spec | undefined), partition: everyOrdinal };
  return { ...spec, updateStrategy: { ...(strategy as Spec | undefined), rollingUpdate: rolling } };
}

/** The partition counts from the first replica of a set, so it moves down with where the share begins. */
export function withOrdinals(spec: Spec, { ordinalsStart }: Share): Spec {
  const first = numberAt(spec, 'ordinals', 'start') ?? 0;
  if (ordinalsStart === undefined || ordinalsStart === first) return spec;
  const shaped: Spec = { ...spec, ordinals: { start: ordinalsStart } };
  const partition = numberAt(spec, 'updateStrategy', 'rollingUpdate', 'partition');
  if (!partition) return shaped;
  const strategy = at(spec, 'updateStrategy') as Spec;
  const rolling = at(strategy, 'rollingUpdate') as Spec;
  const own = Math.max(0, partition - (ordinalsStart - first));
  return { ...shaped, updateStrategy: { ...strategy, rollingUpdate: { ...rolling, partition: own } } };
}
