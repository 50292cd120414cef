import type { ScaleTarget } from './autoscaler.ts';
import type { Slices } from './plan.ts';

/**
 * What autoscalers say of their target, without those of clusters where what is there of it comes on top of the whole, or goes: while
 * it moves it is there twice, and its autoscaler is to be one of so many replicas as it has. All, where that is not known.
 */
export function toldOnce(slices: Slices, target: ScaleTarget | undefined): Slices {
  const counted = target && countedOn(target);
  if (!counted) return slices;
  return Object.fromEntries(
    Object.entries(slices).map(([cluster, slice]) => [
      cluster,
      counted.has(cluster) ? slice : { ...slice, status: {} },
    ]),
  );
}

/** Where the whole is: first where it is to be. */
function countedOn({ shares, wanted, total }: ScaleTarget): ReadonlySet<string> | undefined {
  const active = [...shares].filter(([, { phase }]) => phase === 'Active');
  // Scaled up on its way, it is whole nowhere but where it is yet to be.
  const joining = [...shares].filter(
    ([cluster, { phase }]) => phase === 'Joining' && wanted.includes(cluster),
  );
  const there = active.filter(([cluster]) => wanted.includes(cluster));
  const former = active.filter(([cluster]) => !wanted.includes(cluster));
  const whole = [there, former, active, [...there, ...joining]].find(
    (some) => some.reduce((sum, [, { replicas = 0 }]) => sum + replicas, 0) >= total,
  );
  return whole && new Set(whole.map(([cluster]) => cluster));
}
