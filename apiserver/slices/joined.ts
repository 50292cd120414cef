import { isOf, type PlacementSlice, withSlices } from '../../cluster/slices.ts';
import type { Placement } from '../../cluster/types.ts';
import type { Entry } from '../../storage/store.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';

/**
 * As our own controllers are shown it, under the revision of the Placement: with all that is said of it, of shares that are gone,
 * too. The very same where its clusters say nothing.
 */
export function joinedWhole(entry: Entry, slices: readonly Entry[]): Entry {
  if (slices.length === 0) return entry;
  return { ...entry, value: encodeStored(withSlices(decodeStored(entry) as Placement, slices.map(sliceOf))) };
}

/**
 * As users are shown it: with what is said of shares that are there. At `revision`; default: the newest of these parts. What is said of a
 * share goes from it as that does, by a write of the Placement: so what is shown later has the later revision.
 */
export function joined(entry: Entry, slices: readonly Entry[], revision?: number): Entry {
  const placement = slices.length > 0 ? (decodeStored(entry) as Placement) : undefined;
  const shares = placement?.spec?.shares ?? {};
  const shown = slices.flatMap((stored) => {
    const slice = sliceOf(stored);
    const isShown = isOf(slice, placement) && Object.hasOwn(shares, slice.spec?.cluster ?? '');
    return isShown ? [{ slice, revision: stored.revision }] : [];
  });
  const newest = revision ?? Math.max(entry.revision, ...shown.map((one) => one.revision));
  if (!placement || shown.length === 0)
    return newest === entry.revision ? entry : { ...entry, revision: newest };
  const said = shown.map(({ slice }) => slice);
  return { ...entry, revision: newest, value: encodeStored(withSlices(placement, said)) };
}

function sliceOf(entry: Entry): PlacementSlice {
  return decodeStored(entry) as PlacementSlice;
}
