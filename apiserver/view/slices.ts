import { isClaimRef, saysBound, withBound } from '../../cluster/claims.ts';
import {
  isOf,
  newSlice,
  type PlacementSlice,
  sliceName,
  slicesPrefix,
  slicesStored,
  withSlices,
} from '../../cluster/slices.ts';
import type { ClusterSlice, Placement } from '../../cluster/types.ts';
import { conflict, notFound, staleObject } from '../../kube/status.ts';
import { getOwn } from '../../kube/untyped.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { translated } from '../registry/errors.ts';
import { parseKey } from '../registry/keys.ts';
import { keyOf, type ObjectAddress, readObject, rewriteObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace, placementsStored } from './places.ts';

const resource = { group: 'atoll.dev', resource: 'shares' };

export interface SliceAddress extends NamespacePlace {
  cluster: string;
  name: string;
}

export interface Heard {
  placement: Placement;
  /** As of which, at least, the Placement was read: of a share that has changed since, it was not said. */
  revision: number;
}

/**
 * Makes what the cluster says of the Placement exactly `slice`, and touches nothing else. The same slice again is no write.
 * 404 when the cluster has neither a share nor a slice. A slice left over from a share that is gone already goes with
 * the word that the object is absent; otherwise the splitter drops it.
 */
export async function writeSlice(store: Store, address: SliceAddress, slice: ClusterSlice): Promise<Heard> {
  const isBound = saysBound(slice);
  // Before anybody may be told: who decides by what was said before that writes under an earlier revision.
  if (isBound) await noteBound(store, address, true);
  const heard = await write(store, address, slice);
  const known = heard.placement.status?.bound?.includes(address.cluster) === true;
  if (!isBound && known) await noteBound(store, address, false);
  return heard;
}

/** Of a claim: in the Placement itself, by which it is decided what becomes of its data. */
async function noteBound(store: Store, address: SliceAddress, isBound: boolean): Promise<void> {
  await rewriteObject<Placement>(store, placementAddress(address), (placement) => {
    const { shares = {}, ref } = placement?.spec ?? {};
    if (!placement || !ref || !isClaimRef(ref)) return placement;
    if (isBound && getOwn(shares, address.cluster) === undefined) return placement;
    return withBound(placement, address.cluster, isBound);
  });
}

async function write(store: Store, address: SliceAddress, slice: ClusterSlice): Promise<Heard> {
  let heard: Heard | undefined;
  const say = async (before: PlacementSlice | undefined) => {
    const { revision } = store;
    const placement = await readObject<Placement>(store, placementAddress(address));
    const isKnown = before !== undefined && isOf(before, placement);
    const isShared = getOwn(placement?.spec?.shares ?? {}, address.cluster) !== undefined;
    heard = placement && (isShared || isKnown) ? { placement, revision } : undefined;
    if (!heard) return before;
    return isShared || slice.present ? newSlice(heard.placement, address.cluster, slice) : undefined;
  };
  await rewriteObject<PlacementSlice>(store, sliceAddress(address), say, { guesses: true });
  if (!heard) throw notFound(resource, address.name);
  return heard;
}

/** What all clusters say of it, as of now. */
export async function withAll(
  store: Store,
  { logical: cluster, namespace }: NamespacePlace,
  placement: Placement,
): Promise<Placement> {
  const stored = { resource: slicesStored, cluster, namespace };
  const prefix = keyOf({ ...stored, name: slicesPrefix(placement.metadata.name ?? '') });
  const { entries } = await translated(store.list(prefixRange(prefix)), slicesStored);
  return withSlices(
    placement,
    entries.map((entry) => decodeStored(entry) as PlacementSlice),
  );
}

/** What one cluster had said of it by then. */
export async function saidOf(
  store: Store,
  { cluster }: { cluster: string },
  { key, placement }: { key: string; placement: Placement },
  revision: number,
): Promise<ClusterSlice | undefined> {
  const { cluster: logical, namespace, name } = parseKey(placementsStored, key);
  const address = sliceAddress({ logical, namespace, name, cluster });
  const slice = await readObject<PlacementSlice>(store, address, { revision });
  return slice && withSlices(placement, [slice]).status?.clusters?.[cluster];
}

/** Takes back what was said at `revision`, the answer; 409 where another word has come since, and nothing where there is none. */
export async function dropSlice(
  store: Store,
  address: SliceAddress,
  revision: number,
): Promise<PlacementSlice | undefined> {
  const stored = sliceAddress(address);
  const entry = await translated(store.get(keyOf(stored)), slicesStored, stored.name);
  if (!entry) return undefined;
  if (entry.revision !== revision) throw conflict(slicesStored, stored.name, staleObject);
  await translated(store.delete(entry.key, revision), slicesStored, stored.name);
  return decodeStored(entry) as PlacementSlice;
}

function placementAddress(address: SliceAddress): ObjectAddress {
  return addressIn(address, { ...placementsStored, name: address.name });
}

function sliceAddress(address: SliceAddress): ObjectAddress {
  return addressIn(address, { ...slicesStored, name: sliceName(address.name, address.cluster) });
}
