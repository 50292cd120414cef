import { absenceOf } from '../client/errors.ts';
import { hasTemplates } from '../cluster/claims.ts';
import { managedByLabel, ourSlices } from '../cluster/endpoints.ts';
import { isForgotten } from '../cluster/life.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { remove } from './apply.ts';
import { claimsOwned, removeClaims } from './claims.ts';
import { type Engine, recordFor, shareFor } from './engine.ts';
import { isLowered } from './lowered.ts';
import { isOrphaned, markDependents, orphansOf, removeOrphans } from './orphans.ts';
import { controllerOf, knownKind } from './owners.ts';
import { ownership, readLocator } from './ownership.ts';
import { parseTarget, type TargetId, type TargetPlace, targetId } from './target.ts';

/** Whether the object is gone, with what it made, or stays on a cluster that was given up; otherwise when to look again. */
export type Left = { gone: true; stays?: true } | { gone: false; retryAfter: number };

const holdMs = 1_000;
/** How long after a cluster has joined again what it had before waits to be wanted. */
const adoptionMs = 30_000;
const goingMs = 2_000;
/** Nobody is told when the last of its pods begins to end, and another one waits for that. */
const renewedMs = 200;
/** Nobody is told when the last orphan that is no pod has gone. */
const orphansMs = 10_000;

/**
 * Removes what is ours at a target where nothing is wanted any more: a share that is Leaving, or that went away.
 * A closure waits until no workload that needs it is there. Foreign objects count as absent: ours is not there. Of a
 * cluster that was given up a share that went away asks for nothing: what it stood for stays, with all that it needs; but
 * not where to find the pods of clusters that it no longer belongs to.
 */
export async function leave(engine: Engine, id: TargetId, place: TargetPlace): Promise<Left> {
  const cached = engine.physical.cached(place.kind, place.namespace, place.name);
  // Once it was read to be gone, the watch would tell if it came again: after a start there may be none, as nothing was there.
  const isTold = engine.physical.isWatched(place.kind);
  const isKnownGone = !cached && isTold && engine.records.get(id)?.gone === true;
  const object = isKnownGone ? undefined : (cached ?? (await look(engine, id, place)));
  if (object === 'neverThere') return { gone: true };
  // What it made may be there for long: that it is gone itself is asked once.
  if (!object) recordFor(engine, id).gone = true;
  if (!object || !isOurs(engine, id, object)) return await leaveBehind(engine, id, place);
  if (isToBeTaken(engine, id, object)) return { gone: false, retryAfter: adoptionMs / 10 };
  const isBeside = isPeerSlice(object);
  if (!shareFor(engine, id) && !isBeside) {
    if (isFormerData(engine, place, object) || (await isGivenUpNow(engine))) return { gone: true };
  }
  const orphaned = isOrphaned(shareFor(engine, id), object);
  if (orphaned && !(await mayLetGo(engine, id, object))) return { gone: false, retryAfter: holdMs };
  if (orphaned) await markDependents(engine, object);
  const isRenewed = shareFor(engine, id)?.spec?.renewed === true;
  if (object.metadata.deletionTimestamp) {
    // What its pods belong to is there, and shown, for as long as they are.
    if (isRenewed && waitsForDependents(object) && engine.endsPods(id))
      await remove(engine, place, object, 'Background');
    return { gone: false, retryAfter: isRenewed ? renewedMs : goingMs };
  }
  if (isLetGoNext(engine, object)) return { gone: false, retryAfter: holdMs };
  const holder = place.role === 'closure' && !isBeside ? holderOf(engine, id, place) : undefined;
  if (holder === 'left' && (await isGivenUpNow(engine))) return { gone: true, stays: true };
  if (holder) return { gone: false, retryAfter: holdMs };
  const going = !orphaned && isDeleted(engine, id, object) ? await claimsOwned(engine, object) : [];
  const spec = shareFor(engine, id)?.spec;
  if (place.role === 'workload' && (!spec || spec.moved)) await engine.leaveOwners(id, place.namespace);
  await remove(engine, place, object, orphaned ? 'Orphan' : undefined);
  await removeClaims(engine, going);
  return { gone: false, retryAfter: isRenewed ? renewedMs : goingMs };
}

async function look(engine: Engine, id: TargetId, { kind, namespace, name }: TargetPlace) {
  try {
    return await engine.physical.read(kind, namespace, name);
  } catch (error) {
    const isRefused = absenceOf(error) === 'notServed' || isStatusError(error, 'Forbidden');
    if (isRefused && isNeverThere(engine, id)) return 'neverThere' as const;
    throw error;
  }
}

/**
 * Nobody has told that it is there, nor has this syncer put it there: where the cluster refuses to say anything of it, there is nothing
 * to wait for. Were it there all the same, it is found to be nobody's as soon as it can be read.
 */
function isNeverThere(engine: Engine, id: TargetId): boolean {
  const share = shareFor(engine, id);
  const { applied, absent, gone } = engine.records.get(id) ?? {};
  // Once that was told, and nothing was put there since, it is so however often it is looked at.
  const mayBeSo = !absent || gone === true;
  return share !== undefined && applied === undefined && mayBeSo && share.status?.present !== true;
}

function waitsForDependents({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes('foregroundDeletion') === true;
}

async function mayLetGo(engine: Engine, id: TargetId, object: KubeObject): Promise<boolean> {
  return object.metadata.deletionTimestamp !== undefined || (await isLowered(engine, id, object));
}

/** Whoever adopted it is orphaned, and still there: its controller would make it anew. */
function isLetGoNext(engine: Engine, object: KubeObject): boolean {
  const owner = controllerOf(object);
  const kind = owner && knownKind(owner);
  if (!owner || !kind) return false;
  const { namespace = '' } = object.metadata;
  const adopter = engine.physical.cached(kind, namespace, owner.name);
  const share = shareFor(engine, targetId(kind, namespace, owner.name));
  return adopter?.metadata.uid === owner.uid && isOrphaned(share, adopter);
}

/** Of a former registration, and no share says yet what is to become of it: it may be wanted here again. */
function isToBeTaken(engine: Engine, id: TargetId, object: KubeObject): boolean {
  if (shareFor(engine, id) || Date.now() - engine.startedAt > adoptionMs) return false;
  return engine.former.has(readLocator(object)?.syncer ?? '');
}

/** A claim that was left behind for its data: that nobody wants it here now does not say that nobody wants the data. */
function isFormerData(engine: Engine, { kind }: TargetPlace, object: KubeObject): boolean {
  return kind.resource === 'persistentvolumeclaims' && engine.former.has(readLocator(object)?.syncer ?? '');
}

/** Endpoints of other clusters: no workload needs them, and nothing is lost with them. */
function isPeerSlice(object: KubeObject): boolean {
  return object.kind === 'EndpointSlice' && object.metadata.labels?.[managedByLabel.slice] === ourSlices;
}

/** A set that is deleted, not moved: what it owns goes with it. */
function isDeleted(engine: Engine, id: TargetId, object: KubeObject): boolean {
  const spec = shareFor(engine, id)?.spec;
  return spec !== undefined && !spec.moved && hasTemplates(object);
}

/** The object itself is gone. What it left behind stays as long as its Placement says that it was orphaned. */
async function leaveBehind(engine: Engine, id: TargetId, place: TargetPlace): Promise<Left> {
  const { orphaned, renewed } = shareFor(engine, id)?.spec ?? {};
  const orphans = orphaned === undefined ? [] : await orphansOf(engine, place);
  if (orphans.length > 0) {
    const stays = orphaned !== '';
    recordFor(engine, id).orphans = stays;
    if (!stays) await removeOrphans(engine, orphans);
    return { gone: false, retryAfter: stays ? orphansMs : goingMs };
  }
  return !renewed && engine.hasPods(id) ? { gone: false, retryAfter: holdMs } : { gone: true };
}

/** With a share its locator must fit (any uid); without one, the place must be where this syncer put it. */
export function isOurs(engine: Engine, id: TargetId, object: KubeObject): boolean {
  if (engine.namespaces.letGo.has(object.metadata.uid ?? '')) return false;
  const locator = shareFor(engine, id)?.spec?.locator;
  if (locator) return ownership(object, locator, engine.former) !== 'foreign';
  const found = readLocator(object);
  const { namespace = '', name = '' } = object.metadata;
  const home = engine.namespaces.own(namespace)?.locator;
  return (
    found !== undefined &&
    (found.syncer === engine.uid || engine.former.has(found.syncer)) &&
    found.resource !== undefined &&
    found.name === name &&
    home?.namespace === found.namespace &&
    id === `${found.resource}/${namespace}/${name}`
  );
}

/**
 * Asked now, whenever something would go for want of a share: whoever gave the cluster up said so before any share
 * went. One that is gone, or was registered anew, is none of this syncer's any more.
 */
async function isGivenUpNow({ upstream, name, uid, signal }: Engine): Promise<boolean> {
  try {
    const cluster = await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal);
    return isForgotten(cluster) || cluster.metadata.uid !== uid;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return true;
    throw error;
  }
}

/**
 * Some workload is there, or is to be there, that needs it: one with a share, or one that has none any more. What its user
 * deleted is not held by one that lives on, as it would not be on one cluster: it may have been made anew, and that waits.
 */
function holderOf(engine: Engine, id: TargetId, { namespace }: TargetPlace): 'shared' | 'left' | undefined {
  const own = shareFor(engine, id)?.spec;
  const isDeleted = own !== undefined && !own.manifest && !own.moved;
  for (const share of engine.shares.byIndex('requires', id)) {
    if (share.spec?.manifest && isDeleted) continue;
    if (share.spec?.manifest) return 'shared';
    const workload = share.spec && targetId(share.spec.ref, namespace, share.spec.ref.name);
    if (workload && isThere(engine, workload)) return 'shared';
  }
  for (const { kind, object } of engine.physical.inNamespace(namespace)) {
    const workload = targetId(kind, namespace, object.metadata.name ?? '');
    if (parseTarget(workload).role !== 'workload' || shareFor(engine, workload)) continue;
    // Its share is gone: what it required is known only if this syncer applied it itself.
    const record = engine.records.get(workload);
    const needs = record?.applied ? record.requires.includes(id) : true;
    if (needs && isOurs(engine, workload, object)) return 'left';
  }
  return undefined;
}

function isThere(engine: Engine, id: TargetId): boolean {
  const { kind, namespace, name } = parseTarget(id);
  if (engine.unreadable.has(kind) || engine.hasPods(id)) return true;
  return engine.physical.cached(kind, namespace, name) !== undefined;
}

/** Marks what is known to be absent, so that the slice says so. False if it was known before. */
export function noteGone(engine: Engine, id: TargetId): boolean {
  const record = recordFor(engine, id);
  record.error = undefined;
  record.gone = true;
  if (record.absent) return false;
  record.absent = true;
  record.orphans = false;
  delete record.manifest;
  delete record.fingerprint;
  delete record.applied;
  delete record.loweredTo;
  delete record.observed;
  return true;
}
