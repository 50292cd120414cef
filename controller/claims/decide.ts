import { claimsGo, isClaimName, ordinalOf } from '../../cluster/claims.ts';
import { isReflected } from '../../cluster/reflected.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { numberAt } from '../../kube/untyped.ts';

/**
 * Who is to own a claim of the set's name: besides whom somebody named, the set, where it has its claims deleted with it and no other
 * controller stands there, as Kubernetes' own controller has it. A former set of the same name is another controller: what it owned goes with
 * it. Undefined: as it is.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 */
export function ownersOfClaim(set: KubeObject, claim: KubeObject): OwnerReference[] | undefined {
  const { name = '', uid = '', deletionTimestamp } = set.metadata;
  const { ownerReferences: had = [], deletionTimestamp: going } = claim.metadata;
  // What becomes of it is said already.
  if (deletionTimestamp || going || !isClaimName(set, claim.metadata.name ?? '')) return undefined;
  const others = had.filter((owner) => owner.uid !== uid);
  const own = had.filter((owner) => owner.uid === uid);
  const isItsOwn =
    claimsGo(set) &&
    !others.some(({ controller }) => controller === true) &&
    (own.length > 0 || isReflected(claim) || isInRange(set, claim));
  if (!isItsOwn) return own.length > 0 ? others : undefined;
  const flags = { controller: true, blockOwnerDeletion: true };
  const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, ...flags };
  return deepEqual(own, [owner]) ? undefined : [...others, owner];
}

/** One that somebody made under such a name is the set's as soon as it has that pod. */
function isInRange(set: KubeObject, claim: KubeObject): boolean {
  const ordinal = ordinalOf(claim.metadata.name ?? '') ?? -1;
  const start = numberAt(set, 'spec', 'ordinals', 'start') ?? 0;
  return ordinal >= start && ordinal < start + (numberAt(set, 'spec', 'replicas') ?? 1);
}
