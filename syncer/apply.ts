import { absenceOf, isMissing } from '../client/errors.ts';
import { isDefaultAccount } from '../cluster/placeable.ts';
import type { ShareView } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { withAccessThere } from './access-there.ts';
import { changedThere, isDue } from './changed.ts';
import { markClaims } from './claims.ts';
import { noteRan } from './cron.ts';
import { isAdoptable, takeBack } from './default-account.ts';
import type { Engine } from './engine.ts';
import type { Outstanding } from './labelling.ts';
import { isNews } from './news.ts';
import { withoutRefusedPorts } from './node-ports.ts';
import { isOrphaned, markDependents } from './orphans.ts';
import { withOwnersThere } from './owners-there.ts';
import { fieldManager, isLeftBehind, leftBehind, namespaceLocator, ownership } from './ownership.ts';
import { fingerprint, isBehind, manifestDigest, shareNumbers, type TargetRecord } from './records.ts';
import { noteWritten } from './repairs.ts';
import { isScaled, scaledThere, withReplicasThere } from './scaled.ts';
import { type TargetPlace, targetOf } from './target.ts';
import { beingDeleted } from './terminating.ts';
import { endServing, isWithdrawn, keepServing, marked, turns } from './withdrawn.ts';

export interface ApplyInput {
  share: ShareView;
  manifest: KubeObject;
  place: TargetPlace;
  record: TargetRecord;
  /** From the watch; absent when the watch does not know it: then it is read. */
  cached: KubeObject | undefined;
}

/** Undefined: done. `retryAfter`: something must go first. Fails with StatusError when it cannot be applied. */
export type Applied = { retryAfter: number; why?: { reason: string; message: string } } | undefined;

/**
 * Makes the physical object what the share says. Before it is written the object's locator is looked at: what is not
 * ours is NotOwned, and what is ours from a former life of the name goes first. A write names the uid that was
 * looked at, a creation a version that no object has: one that is there is a conflict, not a victim.
 * Replicas that an autoscaler there owns, or the controller of a Deployment, stay as they are, which is why that write names
 * a resourceVersion too.
 */
export async function applyShare(engine: Engine, input: ApplyInput): Promise<Applied> {
  const { share, manifest, place, record } = input;
  const spec = share.spec;
  if (!spec) return undefined;
  const { namespaces } = engine;
  const { namespaceLabels: labels = {} } = spec;
  const home = namespaceLocator(spec);
  if (input.cached && isCurrent(input.cached, manifest, record)) {
    const changed = isBehind(input.cached, record)
      ? undefined
      : changedThere(manifest, input.cached, spec.ref);
    if (!changed || !isDue(record)) {
      noteApplied(share, record, input.cached);
      noteLabels(engine, input, await namespaces.label(spec.physicalNamespace, home, labels));
      return changed;
    }
  }
  await engine.physical.watch(place.kind);
  noteLabels(engine, input, await namespaces.ensure(spec.physicalNamespace, home, labels));
  await engine.accountTokens.ensure(spec);
  if (isUnheardOf(input)) {
    const made = await create(engine, place, manifest);
    if (made) {
      if (isNews(share)) record.madeAt = engine.rush.now();
      return noteMade(share, manifest, record, made);
    }
  }
  // An autoscaler's number must be the one that is there now, not that of a cache; so what was withdrawn just now.
  const cached = isScaled(manifest) || record.withdrawn ? undefined : input.cached;
  const object = cached ?? (await engine.physical.read(place.kind, place.namespace, place.name));
  const isLetGo = namespaces.letGo.has(object?.metadata.uid ?? '');
  const owner = object && (isLetGo ? 'foreign' : ownership(object, spec.locator, engine.former));
  if (object && owner === 'foreign' && !isAdoptable(place, object))
    throw notOwned(engine, place, isLeftBehind(object, spec.locator));
  if (object && owner === 'former') return await removeFormer(engine, input, object);
  if (object?.metadata.deletionTimestamp) return await beingDeleted(engine, place);
  if (object && turns(manifest, object, record) && !(await turn(engine, input, object)))
    return { retryAfter: 50 };
  if (object) await noteRan(engine, place, share, { manifest, object });
  const kept = object && (scaledThere(manifest, object) ?? adoptedThere(engine, manifest, object));
  const uid = object?.metadata.uid;
  const put = (body: KubeObject) => write(engine, place, body, uid, kept !== undefined);
  const written = await put(kept ?? manifest).catch((error) => {
    const wanted = kept ?? manifest;
    const same =
      object &&
      isStatusError(error, 'Invalid') &&
      (withOwnersThere(wanted, object) ?? withAccessThere(wanted, object, spec.ref));
    return same ? put(same) : Promise.reject(error);
  });
  if (!written) return { retryAfter: 50 };
  return noteMade(share, manifest, record, written);
}

function noteMade(
  { spec }: ShareView,
  manifest: KubeObject,
  record: TargetRecord,
  written: KubeObject,
): Applied {
  if (!spec) return undefined;
  const wanted = manifestDigest(manifest);
  noteWritten(record, wanted);
  record.manifest = wanted;
  record.absent = false;
  record.fingerprint = fingerprint(written, manifest);
  record.applied = {
    uid: written.metadata.uid ?? '',
    physicalGeneration: written.metadata.generation ?? 0,
    generation: spec.generation,
    share: shareNumbers(spec.share),
  };
  return changedThere(manifest, written, spec.ref);
}

/**
 * No object has it. An API server compares it with that of what is there, and has nothing to compare where nothing is: what is applied
 * with it comes to be, or is a conflict with whatever has the name.
 */
const ofNothing = '9223372036854775807';

/** Nothing was ever said or seen of it: it is made without a question whether it is there. */
function isUnheardOf({ share, place, record, cached }: ApplyInput): boolean {
  const isSeen = cached !== undefined || share.status !== undefined || record.applied !== undefined;
  return !isSeen && !record.error && !record.withdrawn && !isDefaultAccount(place.kind, place.name);
}

/** Undefined: something is there, or may be. */
function create(engine: Engine, place: TargetPlace, manifest: KubeObject): Promise<KubeObject | undefined> {
  const metadata = { ...manifest.metadata, resourceVersion: ofNothing };
  return write(engine, place, { ...manifest, metadata }, undefined, true);
}

/** From when on it has been adopted there, before that is known here: else the two would take turns at its replicas. */
function adoptedThere(engine: Engine, manifest: KubeObject, object: KubeObject): KubeObject | undefined {
  const isOwned = object.kind === 'ReplicaSet' && engine.ownerOf(object) !== undefined;
  return isOwned ? withReplicasThere(manifest, object) : undefined;
}

/**
 * Before a Service is withdrawn, and before it is not any more: it is marked until that is done, so that whoever goes on after a
 * crash knows that slices may be left of it.
 */
async function turn(engine: Engine, input: ApplyInput, object: KubeObject): Promise<boolean> {
  const { manifest, place, record } = input;
  record.withdrawn = true;
  if (!(await write(engine, place, marked(manifest), object.metadata.uid, false))) return false;
  if (isWithdrawn(manifest)) await keepServing(engine, place, object);
  else {
    await endServing(engine, place, object);
    record.withdrawn = false;
  }
  return true;
}

/** They are no part of the object: it goes on, and says what is missing until it is asked for again. */
function noteLabels(
  engine: Engine,
  { share, record }: ApplyInput,
  outstanding: Outstanding | undefined,
): void {
  record.refusedLabels = outstanding?.keys ?? [];
  if (outstanding) engine.down.addAfter(targetOf(share), outstanding.againMs);
}

/** Nothing to write: the same manifest as last time, and nobody has changed what came of it. */
function isCurrent(object: KubeObject, manifest: KubeObject, record: TargetRecord): boolean {
  if (record.manifest !== manifestDigest(manifest) || object.metadata.deletionTimestamp) return false;
  if (record.applied?.uid !== object.metadata.uid) return false;
  return isBehind(object, record) || record.fingerprint === fingerprint(object, manifest);
}

/** The root's generation may move without the manifest: then it is applied as it stands. */
function noteApplied({ spec }: ShareView, record: TargetRecord, object: KubeObject): void {
  if (!spec || !record.applied) return;
  const known = record.applied.physicalGeneration;
  const physicalGeneration = isBehind(object, record)
    ? known
    : Math.min(known, object.metadata.generation ?? 0);
  const { generation } = spec;
  record.applied = { ...record.applied, physicalGeneration, generation, share: shareNumbers(spec.share) };
}

/** Undefined: the object has changed since it was looked at, and that matters. Of node ports that are taken there it gets others. */
async function write(
  engine: Engine,
  { kind, namespace, name }: TargetPlace,
  manifest: KubeObject,
  uid: string | undefined,
  mayConflict: boolean,
): Promise<KubeObject | undefined> {
  const body = uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };
  const options = { fieldManager, force: uid !== undefined, signal: engine.signal };
  // It finds them one after the other.
  const put = (of: KubeObject): Promise<KubeObject> =>
    engine.client.patch(kind, { namespace, name }, 'apply', of, options).catch((error) => {
      const less = withoutRefusedPorts(error, of);
      return less ? put(less) : Promise.reject(error);
    });
  try {
    return await put(body);
  } catch (error) {
    if (mayConflict && isStatusError(error, 'Conflict')) return undefined;
    if (isMissing(error, namespace)) engine.namespaces.forget(namespace);
    if (absenceOf(error) !== 'notServed') throw error;
    const message = `the cluster does not serve ${kind.resource} ${kind.group}/${kind.version}`;
    throw new StatusError(404, 'NotServed', message, undefined, error);
  }
}

async function removeFormer(
  engine: Engine,
  { place, share }: ApplyInput,
  object: KubeObject,
): Promise<Applied> {
  const orphaned = isOrphaned(share, object);
  if (orphaned) await markDependents(engine, object);
  if (!object.metadata.deletionTimestamp)
    await remove(engine, place, object, orphaned ? 'Orphan' : undefined);
  return { retryAfter: 500 };
}

/** Default: workloads go with their pods first, so that gone means gone. The uid is that of the object that was looked at. */
export async function remove(
  engine: Engine,
  place: TargetPlace,
  object: KubeObject,
  propagation?: 'Orphan' | 'Background',
): Promise<void> {
  const { kind, namespace, name, role } = place;
  const { uid } = object.metadata;
  if (isDefaultAccount(kind, name)) return await takeBack(engine, place, object);
  if (kind.resource === 'statefulsets') await markClaims(engine, object);
  const propagationPolicy = propagation ?? (role === 'workload' ? 'Foreground' : 'Background');
  const how = { propagationPolicy, preconditions: { ...(uid && { uid }) } } as const;
  try {
    await engine.client.delete(kind, { namespace, name }, how, engine.signal);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
  }
}

function notOwned(engine: Engine, { kind, namespace, name }: TargetPlace, left: boolean): StatusError {
  const what = `${kind.resource} ${namespace}/${name}`;
  const how = left ? leftBehind(engine.name) : 'exists on the cluster and is not ours';
  return new StatusError(409, 'NotOwned', `${what} ${how}`);
}
