import type { Placement } from '../cluster/types.ts';
import type { Shares } from './plan.ts';
import type { Split, SplitInput } from './split.ts';

/** A Placement without what is left of the former object of its name, and that. */
function apart(placement: Placement): { own: Placement; former: Shares } {
  const { spec, status } = placement;
  const isFormer = (c: string) => spec?.shares?.[c]?.former === true;
  const without = <T>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([c]) => !isFormer(c)));
  const former = Object.fromEntries(Object.entries(spec?.shares ?? {}).filter(([c]) => isFormer(c)));
  if (!spec || Object.keys(former).length === 0) return { own: placement, former: {} };
  const clusters = status?.clusters && { clusters: without(status.clusters) };
  return {
    own: {
      ...placement,
      spec: { ...spec, shares: without(spec.shares ?? {}) },
      status: { ...status, ...clusters },
    },
    former,
  };
}

/**
 * The present object is decided about as if nothing was left of the former one: neither its numbers nor its words are this one's. What is
 * left goes when its cluster says so, or was given up; until then the present one does not come there.
 */
export function besideFormer(input: SplitInput, decide: (input: SplitInput) => Split): Split {
  const { own, former } = apart(input.placement);
  const { clusters = {} } = input.placement.status ?? {};
  const left = Object.entries(former).filter(([c]) => input.isKnown(c) && clusters[c]?.present !== false);
  const outcome = decide({ ...input, placement: own });
  if (own === input.placement) return outcome;
  const all = [...Object.entries(outcome.shares).filter(([c]) => !Object.hasOwn(former, c)), ...left];
  return { ...outcome, shares: Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))) };
}
