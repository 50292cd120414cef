import { limitsOf } from '../cluster/capacity.ts';
import { approximateQuantity, zeroQuantity } from '../kube/quantity.ts';
import { type Candidate, taintOf } from './filter.ts';

/** The best place among candidates that no filter objects to: most free capacity, then least used, then by name. */
export function best(candidates: readonly Candidate[]): Candidate | undefined {
  return [...candidates].sort(
    (a, b) =>
      Number(isShunned(a)) - Number(isShunned(b)) ||
      freeShare(b) - freeShare(a) ||
      pods(a) - pods(b) ||
      (a.name < b.name ? -1 : 1),
  )[0];
}

function isShunned(candidate: Candidate): boolean {
  return taintOf(candidate, 'PreferNoSchedule') !== undefined;
}

/** Of its scarcest resource the part that would be left, 0 to 1; one without known limits has all of it. */
function freeShare({ cluster, need, used }: Candidate): number {
  let least = 1;
  for (const [name, limit] of limitsOf(cluster)) {
    const whole = approximateQuantity(limit);
    const taken =
      approximateQuantity(used.get(name) ?? zeroQuantity) +
      approximateQuantity(need.get(name) ?? zeroQuantity);
    least = Math.min(least, whole > 0 ? Math.max(0, 1 - taken / whole) : 0);
  }
  // Small differences are noise: they must not decide before the name does.
  return Math.round(least * 100);
}

function pods({ used }: Candidate): number {
  return approximateQuantity(used.get('pods') ?? zeroQuantity);
}
