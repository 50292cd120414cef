import { adoptedAnnotation } from '../../cluster/names.ts';
import { isAdoptable, isAdopted, mayAdopt } from '../../cluster/placeable.ts';
import type { Placement } from '../../cluster/types.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/object.ts';
import { getOwn } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { readObject, rewriteObject } from '../registry/rewrite.ts';
import type { Registry } from '../registry/types.ts';
import { bound } from './bound.ts';
import { countRevision } from './deployment-revision.ts';
import type { Fed } from './index.ts';
import { placementOfUid } from './placement-of.ts';
import { addressIn } from './places.ts';
import { type SliceAddress, withAll } from './slices.ts';

/**
 * A placed Pod says what its cluster has made of it beside its status, as the pods of workloads do: the node that it is
 * bound to, and the workload whose controller adopted it there; so does a placed ReplicaSet. One that moves says it anew;
 * one that was let go has no controller any more. A ReplicaSet that its Deployment's controller has deleted everywhere
 * goes here too.
 */
export async function noteOwn(
  served: { store: Store; registry: Registry; index: Fed },
  address: SliceAddress,
  stored: Placement,
): Promise<void> {
  const { store } = served;
  const { ref, shares = {} } = stored.spec ?? {};
  const phase = getOwn(shares, address.cluster)?.phase;
  if (!ref || !isAdoptable(ref.kind) || phase === undefined) return;
  const placement = await withAll(store, address, stored);
  const slice = getOwn(placement.status?.clusters ?? {}, address.cluster);
  if (!slice) return;
  if (!slice.present) await noteGone(store, address, placement);
  const isOwn = (own: KubeObject | undefined): own is KubeObject => own?.metadata.uid === ref.uid;
  if (!slice.present || phase === 'Leaving') {
    if (ref.kind === 'Pod')
      await rewriteObject(store, addressIn(address, ref), (own) =>
        isOwn(own) ? bound(store, address, own, placement) : own,
      );
    return;
  }
  const { owner } = slice;
  const adopter = owner && (await adopterOf(store, address, { uid: owner.uid, kind: ref.kind }));
  const isSaid = adopter !== 'going' && (owner || !isAdoptedElsewhere(address.cluster, placement));
  const noted = await rewriteObject(store, addressIn(address, ref), (own) => {
    if (!isOwn(own)) return own;
    return bound(store, address, isSaid ? { ...own, metadata: adopted(own, adopter) } : own, placement);
  });
  if (noted?.kind === 'ReplicaSet' && isAdopted(noted))
    await countRevision({ ...served, controlled: served.index.controlled }, address, noted);
}

function isAdoptedElsewhere(cluster: string, { spec, status }: Placement): boolean {
  return Object.entries(spec?.shares ?? {}).some(([other, { phase }]) => {
    const slice = getOwn(status?.clusters ?? {}, other);
    return other !== cluster && phase !== 'Leaving' && slice?.present === true && slice.owner !== undefined;
  });
}

/**
 * What is gone where its owner lives on was that one's to delete. What goes along with an owner that leaves a cluster is not. Finalizers
 * are the user's word against that.
 */
async function noteGone(store: Store, address: SliceAddress, { spec, status }: Placement): Promise<void> {
  const { ref, shares = {} } = spec ?? {};
  const of = (cluster: string) => getOwn(status?.clusters ?? {}, cluster);
  if (ref?.kind !== 'ReplicaSet' || !Object.keys(shares).every((cluster) => of(cluster)?.present === false))
    return;
  // Where it leaves, it went as it was told to.
  const staying = Object.keys(shares).filter((cluster) => shares[cluster]?.phase !== 'Leaving');
  const [first] = staying;
  const uid = first === undefined ? undefined : of(first)?.owner?.uid;
  if (first === undefined || uid === undefined || staying.some((one) => of(one)?.owner?.uid !== uid)) return;
  const at = { ...address, cluster: first };
  const owner = await ownerPlacement(store, at, { uid, kind: ref.kind });
  if (!owner || !staying.every((cluster) => livesOn(owner, cluster))) return;
  await rewriteObject(store, addressIn(address, ref), (own) => {
    const isItsOwn = own?.metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid);
    if (own?.metadata.uid !== ref.uid || !isItsOwn || !isAdopted(own) || own.metadata.finalizers?.length)
      return own;
    return undefined;
  });
}

function livesOn({ spec, status }: Placement, cluster: string): boolean {
  const phase = getOwn(spec?.shares ?? {}, cluster)?.phase;
  return (
    phase !== undefined && phase !== 'Leaving' && getOwn(status?.clusters ?? {}, cluster)?.present === true
  );
}

/** A controller that the user named stays. One that was orphaned may be adopted anew. */
function adopted(pod: KubeObject, owner: OwnerReference | undefined): ObjectMeta {
  const { annotations, ownerReferences = [], ...metadata } = pod.metadata;
  const was = isAdopted(pod);
  const controlled = ownerReferences.some(({ controller }) => controller === true);
  if (!was && (controlled || !owner)) return pod.metadata;
  const { [adoptedAnnotation]: _, ...users } = annotations ?? {};
  const others = ownerReferences.filter(({ controller }) => controller !== true);
  const references = owner ? [...others, owner] : others;
  const marked = owner ? { ...users, [adoptedAnnotation]: pod.metadata.uid ?? '' } : users;
  return {
    ...metadata,
    ...(Object.keys(marked).length > 0 && { annotations: marked }),
    ...(references.length > 0 && { ownerReferences: references }),
  };
}

/**
 * The cluster is believed which of its own workloads it is, and nothing else: under another kind or name the owner would
 * be missing here, and the Pod collected as garbage. `going`: here that one is deleted, or orphaned, and what becomes of what it
 * owns is said already.
 */
async function adopterOf(
  store: Store,
  address: SliceAddress,
  { uid, kind: made }: { uid: string; kind: string },
): Promise<OwnerReference | 'going' | undefined> {
  const ref = (await ownerPlacement(store, address, { uid, kind: made }))?.spec?.ref;
  if (!ref) return undefined;
  const { metadata } = (await readObject(store, addressIn(address, ref))) ?? {};
  if (metadata?.uid !== uid || metadata.deletionTimestamp !== undefined) return 'going';
  const { kind, name } = ref;
  return { apiVersion: formatApiVersion(ref), kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Of a workload of that uid, which has a share on the cluster, and may adopt what is of that kind. */
async function ownerPlacement(
  store: Store,
  { logical, namespace, cluster: where }: SliceAddress,
  { uid, kind }: { uid: string; kind: string },
): Promise<Placement | undefined> {
  const found = await placementOfUid(store, { logical, namespace }, uid);
  const { ref, shares = {} } = found?.spec ?? {};
  if (!found || !ref || !mayAdopt(ref, kind) || getOwn(shares, where) === undefined) return undefined;
  return await withAll(store, { logical, namespace }, found);
}
