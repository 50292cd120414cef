import { isAdopted } from '../../cluster/placeable.ts';
import { isHeld, isReflected, reflectedKind } from '../../cluster/reflected.ts';
import { revisionAfter, revisionAnnotation, revisionOf } from '../../cluster/revision.ts';
import { sameJson } from '../../kube/deep.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { keyOf, readObject, rewriteObject } from '../registry/rewrite.ts';
import type { Registry } from '../registry/types.ts';
import type { Controlled } from './controlled.ts';
import { templateOf } from './own-template.ts';
import { addressIn, type NamespacePlace } from './places.ts';

const sets = reflectedKind('replicasets');
const deployments = { group: 'apps', resource: 'deployments' };

/**
 * The present ReplicaSet of the Deployment that controls `set` comes after all that this one has adopted, whatever number
 * these bear. To be asked once a ReplicaSet is numbered, and once one is adopted: whichever comes last sees both.
 */
export async function countRevision(
  { store, registry, controlled }: { store: Store; registry: Registry; controlled: Controlled },
  place: NamespacePlace,
  set: KubeObject,
): Promise<void> {
  const owner = deploymentOf(set);
  const all = owner ? await controlled.of(sets, place, owner.uid) : [];
  if (!owner || !all.some(isAdopted)) return;
  const root = await readObject(store, addressIn(place, { ...deployments, name: owner.name }));
  const present = root?.metadata.uid === owner.uid ? presentOf(root, all) : undefined;
  const { name, uid } = present?.metadata ?? {};
  if (name === undefined) return;
  const next = revisionAfter(all.filter(({ metadata }) => metadata.uid !== uid));
  const counted = await rewriteObject(store, addressIn(place, { ...sets, name }), (found) =>
    found?.metadata.uid === uid && found && revisionOf(found) < next ? numbered(found, next) : found,
  );
  if (counted) await noteRevision({ store, registry }, place, counted);
}

/** Of what it controls, an adopted one of its own template; else of what its clusters have made the newest. */
export function presentOf(root: KubeObject, all: readonly KubeObject[]): KubeObject | undefined {
  const template = templateOf(root);
  const isPresent = (set: KubeObject) => isAdopted(set) && sameJson(templateOf(set), template);
  const made = all.filter((set) => isReflected(set) && !isHeld(set));
  const [newest] = made.sort((a, b) => (revisionOf(a) < revisionOf(b) ? 1 : -1));
  return all.find(isPresent) ?? newest;
}

/**
 * Which revision the Deployment is at, noted as its own controller notes it on one cluster: with its status, which
 * begins no new generation.
 */
export async function noteRevision(
  { store, registry }: { store: Store; registry: Registry },
  { logical: cluster, namespace }: NamespacePlace,
  set: KubeObject,
): Promise<void> {
  const owner = deploymentOf(set);
  if (!owner) return;
  const revision = revisionOf(set);
  const place = { cluster, namespace, ...deployments, name: owner.name };
  // What was noted once is not taken back.
  const seen = store.seen?.(keyOf(addressIn({ logical: cluster, namespace }, place)));
  const known = seen && shownStored(seen);
  if (known && known.metadata.uid === owner.uid && revisionOf(known) >= revision) return;
  const note = (root: KubeObject): KubeObject =>
    root.metadata.uid !== owner.uid || revisionOf(root) >= revision ? root : numbered(root, revision);
  try {
    await registry.update(place, note, { subresource: 'status' });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

function deploymentOf(set: KubeObject): OwnerReference | undefined {
  const owner = set.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'Deployment' ? owner : undefined;
}

function numbered(object: KubeObject, revision: bigint): KubeObject {
  const annotations = { ...object.metadata.annotations, [revisionAnnotation]: String(revision) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
