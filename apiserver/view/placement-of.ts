import { placedKinds } from '../../cluster/kinds.ts';
import { placementName } from '../../cluster/placement.ts';
import type { Placement } from '../../cluster/types.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { OwnerReference } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { listEntries, readObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace, placementsStored } from './places.ts';

type Owner = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid'>;

/** The Placement of an object that owns something here. Of a kind that the code knows it is read by its name. */
export async function placementOfOwner(
  store: Store,
  place: NamespacePlace,
  { apiVersion, kind, name, uid }: Owner,
): Promise<Placement | undefined> {
  const { group } = parseApiVersion(apiVersion);
  const known = placedKinds.find((one) => one.kind === kind && one.group === group);
  if (!known) return await placementOfUid(store, place, uid);
  const found = await placementNamed(store, place, { ...known, name });
  return found?.spec?.ref.uid === uid ? found : undefined;
}

export async function placementNamed(
  store: Store,
  place: NamespacePlace,
  ref: { group: string; resource: string; name: string },
): Promise<Placement | undefined> {
  const { group, resource } = placementsStored;
  return await readObject<Placement>(store, addressIn(place, { group, resource, name: placementName(ref) }));
}

/** Whatever its object is called. Of others only the bytes are looked at: a Namespace may have thousands. */
export async function placementOfUid(
  store: Store,
  { logical: cluster, namespace }: NamespacePlace,
  uid: string,
): Promise<Placement | undefined> {
  const { entries } = await listEntries(store, { resource: placementsStored, cluster, namespace });
  const needle = Buffer.from(JSON.stringify(uid));
  for (const entry of entries) {
    const { buffer, byteOffset, byteLength } = entry.value;
    if (!Buffer.from(buffer, byteOffset, byteLength).includes(needle)) continue;
    const placement = decodeStored(entry) as Placement;
    if (placement.spec?.ref.uid === uid) return placement;
  }
  return undefined;
}
