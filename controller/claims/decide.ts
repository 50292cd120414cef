import { claimsGo, hasOrdinalOf } from '../../cluster/claims.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';

/**
 * Who is to own a claim that is called as the set's are: besides whom somebody named, the set, where it has its claims deleted with it and no other
 * controller stands there, as Kubernetes' own controller has it: one whose pod went while claims were to stay, or which a former set left,
 * is the set's again as soon as that has the pod. A former set of the same name is another controller: what it owned goes with
 * it. Undefined: as it is.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 */
export function ownersOfClaim(set: KubeObject, claim: KubeObject): OwnerReference[] | undefined {
  const { name = '', uid = '', deletionTimestamp } = set.metadata;
  const { ownerReferences: had = [], deletionTimestamp: going } = claim.metadata;
  // What becomes of it is said already.
  if (deletionTimestamp || going) return undefined;
  const others = had.filter((owner) => owner.uid !== uid);
  const own = had.filter((owner) => owner.uid === uid);
  const isItsOwn =
    claimsGo(set) &&
    !others.some(({ controller }) => controller === true) &&
    (own.length > 0 || hasOrdinalOf(set, claim.metadata.name ?? ''));
  if (!isItsOwn) return own.length > 0 ? others : undefined;
  const flags = { controller: true, blockOwnerDeletion: true };
  const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, ...flags };
  return deepEqual(own, [owner]) ? undefined : [...others, owner];
}
