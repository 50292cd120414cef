import { claimsGo, hasOrdinalOf, templateOf } from '../../cluster/claims.ts';
import type { OwnerReference } from '../../kube/object.ts';
import { readObject } from '../registry/rewrite.ts';
import type { Making } from './making.ts';
import { addressIn } from './places.ts';

/**
 * Who owns a claim that the controller of `told`, a StatefulSet, made there, as it is shown for the first time: whom its template names, and the
 * set, where that has them deleted with it and no other controller is named. From then on its logical cluster alone says so:
 * controller/claims/.
 */
export async function claimOwners(
  { store, address, before }: Making,
  told: readonly OwnerReference[],
): Promise<OwnerReference[]> {
  if (before) return [...(before.metadata.ownerReferences ?? [])];
  const [set] = told;
  if (!set) return [];
  const { name, uid } = set;
  const at = addressIn(address, { group: 'apps', resource: 'statefulsets', name });
  const there = await readObject(store, at);
  if (there?.metadata.uid !== uid || there.metadata.deletionTimestamp) return [];
  // Its cluster may have yet to hear that they are to stay.
  const named = templateOf(there, address.name)?.metadata?.ownerReferences ?? [];
  const isItsOwn = claimsGo(there) && !named.some(({ controller }) => controller === true);
  return isItsOwn && hasOrdinalOf(there, address.name) ? [...named, set] : [...named];
}
