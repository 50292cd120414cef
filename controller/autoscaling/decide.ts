import type { Condition } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { Word } from '../events.ts';
import { type Proposal, propose } from './propose.ts';
import { type History, normalise } from './rates.ts';
import type { Autoscaler, AutoscalerSpec, AutoscalerStatus, Reading, Scale } from './types.ts';
import { type Unsound, unsoundness, type Whose } from './unsound.ts';

/** Of a pass: what is to be written, and said. */
export interface Decision {
  /** What the target is to have from now on; undefined: what it has. */
  replicas: number | undefined;
  reason: string;
  metrics: unknown[];
  conditions: Condition[];
  words: Word[];
  /** The metrics said nothing: what was desired before stays so. */
  failed: boolean;
}

export interface Seen extends Whose {
  scale: Scale;
  /** One of each metric. */
  readings: readonly Reading[];
  /** Of the target, where a metric asks for them. */
  pods: readonly KubeObject[];
  /** Why they are not known. */
  unlisted?: string | undefined;
  now: number;
}

export function conditionSet(
  conditions: readonly Condition[],
  { type, status, reason, message }: Omit<Condition, 'lastTransitionTime'>,
  now: number,
): Condition[] {
  const before = conditions.find((one) => one.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timestamp(now);
  const next = { type, status, lastTransitionTime, reason, message };
  return before ? conditions.map((one) => (one === before ? next : one)) : [...conditions, next];
}

/** Whether it scales by its metrics, and they are to be read. */
export function isByMetrics(hpa: Autoscaler, seen: Whose & { scale: Scale }): boolean {
  return needsMetrics(hpa, seen.scale) && unsoundness(seen) === undefined;
}

function needsMetrics({ spec }: Autoscaler, { wanted }: Scale): boolean {
  return wanted !== 0 && wanted <= (spec?.maxReplicas ?? 0) && wanted >= (spec?.minReplicas ?? 1);
}

/** As reconcileAutoscaler in pkg/controller/podautoscaler/horizontal.go. */
export function decide(hpa: Autoscaler, seen: Seen, history: History): Decision {
  const { scale, now } = seen;
  const spec = hpa.spec as AutoscalerSpec;
  const able = { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale' } as const;
  const message = "the HPA controller was able to get the target's current scale";
  const conditions = conditionSet(hpa.status?.conditions ?? [], { ...able, message }, now);
  const decision: Decision = {
    replicas: undefined,
    reason: '',
    metrics: [],
    conditions,
    words: [],
    failed: false,
  };
  if (history.recommended.length === 0) history.recommended.push({ at: now, replicas: scale.wanted });
  if (needsMetrics(hpa, scale)) return byMetrics(hpa, seen, history, decision);
  if (scale.wanted === 0) {
    const because = 'scaling is disabled since the replica count of the target is zero';
    const off = {
      type: 'ScalingActive',
      status: 'False',
      reason: 'ScalingDisabled',
      message: because,
    } as const;
    return { ...decision, conditions: conditionSet(conditions, off, now) };
  }
  return scale.wanted > spec.maxReplicas
    ? { ...decision, replicas: spec.maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
    : {
        ...decision,
        replicas: spec.minReplicas ?? 1,
        reason: 'Current number of replicas below Spec.MinReplicas',
      };
}

function byMetrics(hpa: Autoscaler, seen: Seen, history: History, decision: Decision): Decision {
  const { scale, now, readings, pods, unlisted } = seen;
  const spec = hpa.spec as AutoscalerSpec;
  const unsound = unsoundness(seen);
  if (unsound) return unscaled(decision, unsound, now);
  const metrics = spec.metrics ?? [];
  const { namespace = '' } = hpa.metadata;
  const of = { namespace, scale, pods, unlisted, behavior: spec.behavior, now };
  const proposals = metrics.map((metric, i) => propose(metric, readings[i] ?? { failure: '' }, of));
  const good = proposals.flatMap((one) => ('failure' in one ? [] : [one]));
  const bad = proposals.flatMap((one) => ('failure' in one ? [one] : []));
  const best = good.reduce<Proposal | undefined>(
    (a, b) => (a && a.replicas >= b.replicas ? a : b),
    undefined,
  );
  const words: Word[] = bad.map(({ reason, failure }) => ({ type: 'Warning', reason, message: failure }));
  const statuses = proposals.map((one) => ('failure' in one ? { type: '' } : one.status));
  const active = { type: 'ScalingActive' } as const;
  const [first] = bad;
  if (!best || (first && best.replicas < scale.wanted)) {
    const message = `the HPA was unable to compute the replica count: ${first?.failure}`;
    const off = { ...active, status: 'False', reason: first?.reason ?? '', message } as const;
    const all = `invalid metrics (${bad.length} invalid out of ${metrics.length}), first error is: ${first?.whole}`;
    words.push({ type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: all });
    const conditions = conditionSet(decision.conditions, off, now);
    return { ...decision, metrics: statuses, conditions, words, failed: true };
  }
  const valid = `the HPA was able to successfully calculate a replica count from ${best.name}`;
  const on = { ...active, status: 'True', reason: 'ValidMetricFound', message: valid } as const;
  const bounds = { min: spec.minReplicas ?? 1, max: spec.maxReplicas, behavior: spec.behavior };
  const asked = { current: scale.wanted, wanted: best.replicas, ...bounds, now };
  const { replicas, able, limited } = normalise(history, asked);
  const { isLimited, ...why } = limited;
  const conditions = [
    on,
    { type: 'AbleToScale', status: 'True', ...able } as const,
    { type: 'ScalingLimited', status: isLimited ? 'True' : 'False', ...why } as const,
  ].reduce((list: Condition[], one) => conditionSet(list, one, now), decision.conditions);
  const above = best.replicas > scale.wanted ? `${best.name} above target` : 'All metrics below target';
  return {
    ...decision,
    metrics: statuses,
    conditions,
    words,
    replicas: replicas === scale.wanted ? undefined : replicas,
    reason: best.replicas === scale.wanted ? '' : above,
  };
}

/** All pods of its namespace would count as its own, or it and others would take turns at them. */
function unscaled(decision: Decision, { said, why, reason, message }: Unsound, now: number): Decision {
  const off = { type: 'ScalingActive', status: 'False', reason, message } as const;
  const words = [said, 'FailedComputeMetricsReplicas'].map(
    (of): Word => ({ type: 'Warning', reason: of, message: why }),
  );
  return { ...decision, words, conditions: conditionSet(decision.conditions, off, now), failed: true };
}

/** The status after a pass; `scaled`: it was carried out. */
export function statusAfter(
  { status: before }: Autoscaler,
  { metrics, conditions, failed, replicas }: Decision,
  { scale, now }: Pick<Seen, 'scale' | 'now'>,
  scaled: boolean,
): AutoscalerStatus {
  const desired = failed ? (before?.desiredReplicas ?? 0) : (replicas ?? scale.wanted);
  const last = scaled ? timestamp(now) : before?.lastScaleTime;
  return {
    ...(last !== undefined && { lastScaleTime: last }),
    currentReplicas: scale.wanted,
    desiredReplicas: desired,
    currentMetrics: metrics,
    conditions,
  };
}
