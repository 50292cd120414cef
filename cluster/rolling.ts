import { at, numberAt, textAt } from '../kube/untyped.ts';
import type { Share } from './types.ts';

type Spec = Record<string, unknown>;

/**
 * A share of a rolling update applies to that strategy only; Recreate has no budget to divide. What has no turn is paused,
 * which scales still: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-rollout-of-a-deployment
 */
export function withStrategy(spec: Spec, { maxSurge, maxUnavailable, paused }: Share): Spec {
  if (maxSurge === undefined && maxUnavailable === undefined) return spec;
  if (textAt(spec, 'strategy', 'type') === 'Recreate') return spec;
  const rollingUpdate = {
    ...(maxSurge !== undefined && { maxSurge }),
    ...(maxUnavailable !== undefined && { maxUnavailable }),
  };
  return { ...spec, strategy: { type: 'RollingUpdate', rollingUpdate }, ...(paused === true && { paused }) };
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
