import { placements } from '../../cluster/names.ts';
import { placementOf, slicesPrefix, slicesStored } from '../../cluster/slices.ts';
import { prefixRange, type Range } from '../../storage/store.ts';
import { collectionRange } from '../registry/keys.ts';

export const placementsStored = { ...placements, namespaced: true };

const allPlacements = collectionRange(placementsStored, '*', '');
export const allSlices = collectionRange(slicesStored, '*', '');

/** Placements and their slices, and nothing else. */
export const both: Range = { start: allPlacements.start, end: allSlices.end };

export function isWithin(key: string, { start, end }: Range): boolean {
  return key >= start && key < end;
}

export function isOfPlacements({ start }: Range): boolean {
  return isWithin(start, allPlacements);
}

/** Of all the Placements in a range: that of one, of a namespace, of a logical cluster, or all. */
export function slicesIn({ start, end }: Range): Range {
  const isOne = end === `${start}\0`;
  return prefixRange(isOne ? slicesOf(start) : moved(start));
}

/** What the keys of a Placement's slices begin with. */
export function slicesOf(placementKey: string): string {
  return slicesPrefix(moved(placementKey));
}

/** Of the Placement that a slice is about. */
export function placementKeyOf(sliceKey: string): string {
  return `${allPlacements.start}${placementOf(sliceKey.slice(allSlices.start.length))}`;
}

function moved(key: string): string {
  return `${allSlices.start}${key.slice(allPlacements.start.length)}`;
}
