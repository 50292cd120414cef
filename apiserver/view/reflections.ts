import { isClaimInUse } from '../../cluster/claims.ts';
import { isMirrored, isPlaceholder, isPlaceholderSlice, sliceName } from '../../cluster/endpoints.ts';
import { reflectedFromAnnotation, reflectedUidAnnotation } from '../../cluster/names.ts';
import { parseClusters } from '../../cluster/placement.ts';
import { isHeld, type ReflectedKind, reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import { revisionOf } from '../../cluster/revision.ts';
import type { Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflict, forbidden, notFound, type StatusError } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { parseKey } from '../registry/keys.ts';
import { requireNamespace } from '../registry/namespaces.ts';
import { listEntries, rewriteObject } from '../registry/rewrite.ts';
import type { Registry } from '../registry/types.ts';
import { follow, replaceFormer } from './another.ts';
import { refuseNested } from './bounds.ts';
import type { Controlled } from './controlled.ts';
import { countRevision, noteRevision } from './deployment-revision.ts';
import type { Fed } from './index.ts';
import type { Making } from './making.ts';
import { namesSource } from './named-source.ts';
import { requireUid } from './namespace.ts';
import { addressIn, placementsStored } from './places.ts';
import { makeReflection } from './reflected.ts';
import { withoutSubsets } from './reflected-endpoints.ts';
import { historyOf, isHistory, isOrphanOf, mayComeAgain } from './reflected-history.ts';
import { withoutPart } from './reflected-revision.ts';
import type { SliceAddress } from './slices.ts';
import { isAnother, sourceOf, withoutSource } from './sources.ts';
import { heldHere } from './users-own.ts';

export const maxReflectionBytes = 256 << 10;

/** All objects of a kind that were reflected from this cluster, at one revision. */
export async function listReflections(
  store: Store,
  kind: ReflectedKind,
  cluster: string,
): Promise<{ revision: number; items: KubeObject[] }> {
  const stored = { group: kind.group, resource: kind.resource, namespaced: true };
  const { entries, revision } = await listEntries(store, { resource: stored, cluster: '*', namespace: '' });
  const reflected = entries.filter((entry) => namesSource(entry, cluster));
  const objects = reflected.map((entry) => withUid(decodeStored(entry, parseKey(stored, entry.key).cluster)));
  return { revision, items: objects.filter((object) => isOf(object, cluster)) };
}

/**
 * Creates or replaces the reflection of a physical object. It only ever writes what reflections made, and only
 * where the cluster has a share: a name that is taken is 409, another namespace 403.
 */
export async function putReflection(
  { store, registry, index }: { store: Store; registry: Registry; index: Fed },
  kind: ReflectedKind,
  address: SliceAddress,
  body: Record<string, unknown>,
): Promise<KubeObject> {
  let isNew = false;
  let known = 0n;
  let givesWay = false;
  refuseNested(body);
  const { formers, controlled } = index;
  const making = { store, kind, address, body, formers, controlled };
  const make = async (stored: KubeObject | undefined): Promise<KubeObject | undefined> => {
    isNew = stored === undefined;
    const before = stored && withUid(stored);
    const owners = ownersHere(index, kind, address, Boolean(body['namespaceUid']));
    givesWay = before !== undefined && (await replaces(store, kind, before, address));
    known = revisionOf(before);
    const mayBe = !before || givesWay || isOrphanOf(before, body);
    if (!mayBe && !mayWrite(kind, before, address.cluster, owners)) throw taken(kind, address, before);
    await requireUid(store, address, body['namespaceUid']);
    if (before && givesWay) return heldHere(before);
    if (!before)
      await requireNamespace(store, address.logical, address.namespace, {
        resource: kind,
        name: address.name,
      });
    return await makeReflection({ ...making, before, owners });
  };
  const at = addressIn(address, { ...kind, name: address.name });
  let written = await rewriteObject(store, at, make, { isNew: isFirst(kind, body) });
  // The one goes, and then the other comes: no object changes its uid.
  if (givesWay) written = await rewriteObject(store, at, make);
  if (written && kind.shared && isAnother(written))
    written = await replaceFormer(
      store,
      kind,
      address,
      written,
      async (there) => (await make(there)) ?? there,
    );
  const object = written as KubeObject;
  if (kind.resource === 'replicasets') {
    await follow(store, address, object, body['shownUid']);
    await noteRevision({ store, registry }, address, object);
    if (revisionOf(object) !== known) await countRevision({ store, registry, controlled }, address, object);
  }
  if (kind.kind === 'EndpointSlice' && isNew) await replacePlaceholder(store, kind, address, object);
  return object;
}

/** An Event that has happened once has most often not been told before. */
function isFirst({ kind }: ReflectedKind, { count, series }: Record<string, unknown>): boolean {
  return kind === 'Event' && series === undefined && (count === undefined || count === 1);
}

/** The empty slice that stood for it goes at once: who counts slices, as all of a Service's, finds it beside that one else until its controller hears. */
async function replacePlaceholder(
  store: Store,
  kind: ReflectedKind,
  address: SliceAddress,
  slice: KubeObject,
): Promise<void> {
  if (isMirrored(slice)) return;
  for (const { kind: owner, name, uid } of slice.metadata.ownerReferences ?? []) {
    if (owner !== 'Service') continue;
    const placeholder = sliceName(name, uid, String(slice['addressType']));
    const isGoing = (there: KubeObject) =>
      isPlaceholderSlice(there, uid) && (there.metadata.finalizers ?? []).length === 0;
    await rewriteObject(store, addressIn(address, { ...kind, name: placeholder }), (there) =>
      there && isGoing(there) ? undefined : there,
    );
  }
}

/**
 * Of what this cluster reflected only, and of this uid if one is given, here or, of what several may have, there; anything else is not
 * there. Other clusters' part of it stays.
 */
export async function deleteReflection(
  { store, index }: { store: Store; index: Fed },
  kind: ReflectedKind,
  address: SliceAddress,
  uid?: unknown,
): Promise<KubeObject> {
  let left: KubeObject | undefined;
  const at = addressIn(address, { ...kind, name: address.name });
  const rest = await rewriteObject(store, at, async (stored) => {
    const before = stored && withUid(stored);
    if (!before || !isOf(before, address.cluster)) throw notFound(kind, address.name);
    const uids = [before.metadata.uid, ...(kind.shared ? [sourceOf(before, address.cluster)] : [])];
    if (uid && !uids.some((one) => one === uid)) throw notFound(kind, address.name);
    left = await restOf({ store, controlled: index.controlled }, kind, address, before);
    return left ?? heldHere(before);
  });
  if (left && isAnother(left)) return await replaceFormer(store, kind, address, left, async (there) => there);
  return rest as KubeObject;
}

/** What was reflected before it said so by its uid: a store of that time is read as it was meant. */
function withUid(object: KubeObject): KubeObject {
  const { uid, annotations } = object.metadata;
  const from = annotations?.[reflectedFromAnnotation];
  if (!uid || from === undefined || annotations?.[reflectedUidAnnotation] !== undefined) return object;
  const marked = reflectedAs(annotations, uid, parseClusters(from));
  return { ...object, metadata: { ...object.metadata, annotations: marked } };
}

/** The cluster has it, and not only had it. */
function isOf(object: KubeObject, cluster: string): boolean {
  return reflectedFrom(object).includes(cluster) && !isHeld(object);
}

/** What stays when one cluster's part goes. */
async function restOf(
  read: { store: Store; controlled: Controlled },
  kind: ReflectedKind,
  address: SliceAddress,
  before: KubeObject,
): Promise<KubeObject | undefined> {
  if (!kind.shared) return undefined;
  const without = kind.kind === 'Endpoints' ? withoutSubsets : withoutPart;
  const left = without(before, address.cluster);
  if (left) return withoutSource(left, address.cluster, await mayComeAgain(read.store, address, before));
  return kind.kind === 'Endpoints' ? undefined : await historyOf(read, kind, address, before);
}

function isClaim({ kind }: ReflectedKind): boolean {
  return kind === 'PersistentVolumeClaim';
}

/** Of two claims of one name, on two clusters, the one that pods use is shown; else the one that was first. */
async function replaces(
  store: Store,
  kind: ReflectedKind,
  there: KubeObject,
  address: SliceAddress,
): Promise<boolean> {
  const whose = reflectedFrom(there);
  if (!isClaim(kind) || isHeld(there) || whose.length === 0 || whose.includes(address.cluster)) return false;
  const { logical: cluster, namespace } = address;
  const { entries } = await listEntries(store, { resource: placementsStored, cluster, namespace });
  const placed = entries.map((entry) => (decodeStored(entry) as Placement).spec);
  const isInUse = (name: string) => isClaimInUse(address.name, name, placed);
  return isInUse(address.cluster) && !whose.some(isInUse);
}

function mayWrite(
  kind: ReflectedKind,
  before: KubeObject,
  cluster: string,
  owners: Making['owners'],
): boolean {
  const whose = reflectedFrom(before);
  if (isHeld(before)) return false;
  if (!kind.shared) return whose.includes(cluster);
  return whose.length > 0 || isHistory(before, owners) || isPlaceholder(before);
}

function taken(kind: ReflectedKind, address: SliceAddress, object: KubeObject): StatusError {
  const whose = reflectedFrom(object).join(', ');
  if (isHeld(object)) return conflict(kind, address.name, 'its finalizers hold the one that was there');
  return conflict(
    kind,
    address.name,
    whose ? `it is reflected from cluster ${whose}` : 'it is not a reflection',
  );
}

/**
 * The objects that the cluster has a share of in this namespace. Fails with 403 where there are none; but a claim
 * outlives its set, and who knows the Namespace's uid has had a share there.
 */
function ownersHere(
  index: Fed,
  kind: ReflectedKind,
  address: SliceAddress,
  knowsNamespace: boolean,
): Making['owners'] {
  const owners = index.owners(address.cluster, address);
  if (owners === undefined && !(isClaim(kind) && knowsNamespace))
    throw forbidden(kind, address.name, `cluster ${address.cluster} has no share in this namespace`);
  return owners ?? new Map();
}
