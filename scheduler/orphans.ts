import { placedKind } from '../cluster/kinds.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { startsBeside } from '../cluster/renewed.ts';
import type { Placement, PlacementSpec, Share } from '../cluster/types.ts';
import { getOwn } from '../kube/untyped.ts';

/** Every cluster has said that the object itself is gone, and what it left behind is not. */
export function mayTakeOver(tombstone: Placement): boolean {
  if (!isTombstone(tombstone)) return false;
  const slices = tombstone.status?.clusters ?? {};
  return Object.keys(tombstone.spec?.shares ?? {}).every((c) => getOwn(slices, c)?.orphans === true);
}

/**
 * Of what was deleted and made anew: all that the former one has yet to leave are clusters that do not answer. Nobody knows when they will, and
 * what is left there goes then, as of what has moved away meanwhile.
 */
export function leavesSilence({ spec }: Placement, isSilent: (cluster: string) => boolean): boolean {
  if (!spec || spec.orphaned !== undefined) return false;
  const isAlong = placedKind(spec.ref)?.role === 'closure' && spec.ref.resource !== 'persistentvolumeclaims';
  const shares = Object.entries(spec.shares ?? {});
  return (
    (isAlong || startsBeside(spec.ref)) &&
    shares.every(([c, { phase }]) => phase === 'Leaving' && isSilent(c))
  );
}

/** The new one begins elsewhere, without what the former one was told and says; what goes along has no numbers, and is put in its place. */
export function begunBeside(fresh: PlacementSpec, { shares = {} }: PlacementSpec): PlacementSpec {
  const isFormer = startsBeside(fresh.ref) && { former: true };
  const left = Object.entries(shares).map(([c, share]) => [c, { ...share, ...isFormer }] as const);
  return { ...fresh, shares: Object.fromEntries(left) };
}

/**
 * A new object of the same name begins where the former one's pods still are, with its numbers, so that the clusters'
 * own controllers adopt them. `orphaned` stays, for those that nobody adopts.
 */
export function takenOver(fresh: PlacementSpec, { shares = {}, orphaned }: PlacementSpec): PlacementSpec {
  // What the former one has completed is not the new one's.
  const joining = ([cluster, { came: _, ...share }]: [string, Share]) =>
    [cluster, { ...share, phase: 'Joining' }] as const;
  return {
    ...fresh,
    shares: Object.fromEntries(Object.entries(shares).map(joining)),
    ...(orphaned !== undefined && { orphaned }),
  };
}
