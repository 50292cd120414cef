import { claimsGo, isClaimName } from '../../../cluster/claims.ts';
import { placedKinds } from '../../../cluster/kinds.ts';
import { reflectedKinds } from '../../../cluster/reflected.ts';
import { deepEqual } from '../../../kube/deep.ts';
import { parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { type ObjectAddress, readObject, rewriteObject } from '../../registry/rewrite.ts';

/**
 * A pod or claim that somebody has taken from its controller is adopted by it again, as on one cluster: where it runs it was never let
 * go. A claim, only by a set that has it deleted with it. A pod whose labels change may be let go there, of which its syncer tells; and
 * what our own collector takes from a controller that goes is nobody's.
 */
export async function adoptAgain(
  { core, info, stored, user }: ResourceExchange,
  before: KubeObject,
  after: KubeObject,
): Promise<void> {
  const controller = controllerOf(before);
  if (!controller || controllerOf(after) || isOwnController(user)) return;
  const { name = '', namespace = '', uid, labels, deletionTimestamp } = after.metadata;
  if (deletionTimestamp || (after.kind === 'Pod' && !deepEqual(before.metadata.labels, labels))) return;
  const kind = kindOf(controller);
  if (!kind) return;
  const at = (resource: { group: string; resource: string }, name: string): ObjectAddress => ({
    resource: { ...resource, namespaced: true },
    cluster: info.cluster,
    namespace,
    name,
  });
  const owner = await readObject(core.store, at(kind, controller.name));
  if (owner?.metadata.uid !== controller.uid || owner.metadata.deletionTimestamp) return;
  if (after.kind !== 'Pod' && !(claimsGo(owner) && isClaimName(owner, name))) return;
  await rewriteObject(core.store, at(stored.info, name), (there) =>
    !there || there.metadata.uid !== uid || controllerOf(there) ? there : adopted(there, controller),
  );
}

function adopted(object: KubeObject, controller: OwnerReference): KubeObject {
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== controller.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, controller] } };
}

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

function kindOf({ apiVersion, kind }: OwnerReference): { group: string; resource: string } | undefined {
  const { group } = parseApiVersion(apiVersion);
  const workloads = placedKinds.filter(({ role }) => role === 'workload');
  const found = [...workloads, ...reflectedKinds].find((one) => one.kind === kind && one.group === group);
  return found && { group, resource: found.resource };
}
