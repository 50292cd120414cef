import { type PlacementSlice, withSlices } from '../../cluster/slices.ts';
import type { Placement } from '../../cluster/types.ts';
import type { Entry } from '../../storage/store.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';

/** At that revision; default: the newest of its parts. The very same where its clusters say nothing. */
export function joined(entry: Entry, slices: readonly Entry[], revision?: number): Entry {
  const newest = revision ?? Math.max(entry.revision, ...slices.map((slice) => slice.revision));
  if (slices.length === 0) return newest === entry.revision ? entry : { ...entry, revision: newest };
  const placement = decodeStored(entry) as Placement;
  const said = slices.map((slice) => decodeStored(slice) as PlacementSlice);
  return { ...entry, revision: newest, value: encodeStored(withSlices(placement, said)) };
}
