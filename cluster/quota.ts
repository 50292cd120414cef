import { podEvaluator } from '../kube/quota/pod.ts';
import { mapAt } from '../kube/untyped.ts';

/** Of what a ResourceQuota's spec bounds: what pods use. */
export function podAmounts(spec: unknown): Record<string, string> {
  const hard = Object.entries(mapAt(spec, 'hard') ?? {});
  return Object.fromEntries(hard.filter(([name]) => podEvaluator.counts(name)));
}
