import type { Placement } from '../cluster/types.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Shares } from './plan.ts';

/** The same Placement where nothing of a former object of its name is left; else one without that: neither its numbers nor its words are the present one's. */
export function withoutFormer(placement: Placement): Placement {
  const { spec, status } = placement;
  const former = formersOf(placement);
  if (!spec || Object.keys(former).length === 0) return placement;
  const without = <T>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([c]) => !Object.hasOwn(former, c)));
  const said = status?.clusters && { clusters: without(status.clusters) };
  return {
    ...placement,
    spec: { ...spec, shares: without(spec.shares ?? {}) },
    status: { ...status, ...said },
  };
}

/** What is left of the former one goes when its cluster says so, or was given up; until that is written the present one does not come there. */
export function besideFormer(
  shares: Shares,
  placement: Placement,
  isKnown: (cluster: string) => boolean,
): Shares {
  const former = formersOf(placement);
  const isLeft = (c: string) => isKnown(c) && getOwn(placement.status?.clusters ?? {}, c)?.present !== false;
  const all = [
    ...Object.entries(shares).filter(([c]) => !Object.hasOwn(former, c)),
    ...Object.entries(former).filter(([c]) => isLeft(c)),
  ];
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function formersOf({ spec }: Placement): Shares {
  return Object.fromEntries(Object.entries(spec?.shares ?? {}).filter(([, { former }]) => former === true));
}
