import type { ClusterSlice } from './types.ts';

/** The reason of what a cluster took with other replicas, or node ports, than it was told: what is there counts all the same. */
export const changed = 'Changed';

/** Its cluster does not take it as it is to be. */
export function isRefused(slice: ClusterSlice | undefined): boolean {
  return slice?.error !== undefined && !isChanged(slice);
}

export function isChanged(slice: ClusterSlice | undefined): boolean {
  return slice?.error?.reason === changed;
}
