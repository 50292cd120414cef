import { claimsGo } from '../../cluster/claims.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { readObject } from '../registry/rewrite.ts';
import type { Making } from './making.ts';
import { addressIn } from './places.ts';

/**
 * Who owns a claim that a StatefulSet's controller made there: `told`, its set, where that has them deleted with it, after those that
 * somebody here named. Where one of these is another controller the set is none of its owners, as Kubernetes' own controller has it.
 * What becomes of what a set that is being deleted owns is said already: by then nothing is given to it, or taken from it.
 */
export async function claimOwners(
  { store, address, before }: Making,
  told: readonly OwnerReference[],
): Promise<OwnerReference[]> {
  const had = before?.metadata.ownerReferences ?? [];
  const given = had.filter((owner) => !mayHaveMade(owner, address.name));
  const [set] = told;
  if (!set || given.some(({ controller }) => controller === true)) return given;
  const { name, uid } = set;
  const at = addressIn(address, { group: 'apps', resource: 'statefulsets', name });
  const there = await readObject(store, at);
  if (there?.metadata.uid !== uid || isGoing(there)) return [...had];
  // Its cluster has yet to hear that they are to stay.
  if (!claimsGo(there)) return given;
  return [...given, set];
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** By its name: a set's claims are called after a template, the set and an ordinal. */
function mayHaveMade({ apiVersion, kind, name }: OwnerReference, claim: string): boolean {
  if (kind !== 'StatefulSet' || parseApiVersion(apiVersion).group !== 'apps') return false;
  const ordinal = claim.lastIndexOf('-');
  return claim.slice(0, ordinal).endsWith(`-${name}`) && /^\d+$/.test(claim.slice(ordinal + 1));
}
