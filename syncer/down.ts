import { absenceOf } from '../client/errors.ts';
import type { ShareView } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { groupResource } from '../kube/gvk.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { applyShare } from './apply.ts';
import { isEarly } from './early.ts';
import { type Engine, recordFor, shareFor } from './engine.ts';
import { leave, noteGone } from './leave.ts';
import { isQuestion } from './questions.ts';
import { manifestDigest, type TargetRecord } from './records.ts';
import { paceDelay, repairDelay } from './repairs.ts';
import { resume } from './resume.ts';
import { parseTarget, requiredTarget, type TargetId, type TargetPlace, targetOf } from './target.ts';
import { terminating } from './terminating.ts';

const closureWaitMs = 2_000;
/** Between looks at whether the owner that has taken something away is still there: where it is not, that is made again. */
const takenAwayMs = 30_000;
/** Between attempts with what is refused: as long as it has been so. */
const refusedMs = { least: 100, most: 10_000 };

/** Shares -> physical objects. Starts after both sides were read whole: an orphan is one for sure. */
export async function runDown(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void> {
  const tell = (share: ShareView) => engine.down.add(targetOf(share));
  engine.shares.on({
    add: tell,
    update(share, old) {
      // A beat answers that.
      if (isQuestion(share, old)) engine.up.add(targetOf(share));
      else tell(share);
      if (targetOf(old) !== targetOf(share)) tell(old);
    },
    delete: tell,
  });
  await runController({
    name: `syncer-down-${engine.name}`,
    queue: engine.down,
    workers: 16,
    reconcile: (id) => reconcile(engine, id),
    signal: engine.signal,
    logger: engine.logger,
    ready,
  });
}

async function reconcile(engine: Engine, id: TargetId): Promise<Retry | undefined> {
  const share = shareFor(engine, id);
  // Of the first look alone: what it is by then, nobody here has done anything about.
  const isFirst = engine.found.has(id);
  const found = engine.found.get(id);
  engine.found.delete(id);
  if (share?.spec?.manifest && isFirst) resume(engine, { id, share, found });
  if (share?.spec?.manifest) return await arrive(engine, id, share);
  const place = parseTarget(id, share?.spec?.ref ?? engine.physical.watched(id));
  const left = await leave(engine, id, place).catch((error) => {
    const why = whyItStays(error, place);
    if (share && why) setError(engine, id, recordFor(engine, id), why);
    throw error;
  });
  if (!left.gone) {
    // Should it be wanted again, it is applied anew.
    const record = recordFor(engine, id);
    delete record.manifest;
    delete record.stays;
    engine.up.add(id);
    return { after: left.retryAfter };
  }
  // Only the going wakes: two that are gone must not wake each other for ever.
  if (noteGone(engine, id)) wakeOthers(engine, id, share);
  if (left.stays) recordFor(engine, id).stays = true;
  engine.namespaceMayBeEmpty(place.namespace);
  if (share) engine.up.add(id);
  else engine.records.delete(id);
  return undefined;
}

/** What only somebody on the cluster can change. */
function whyItStays(error: unknown, { kind }: TargetPlace): TargetRecord['error'] {
  if (absenceOf(error) === 'notServed')
    return { reason: 'NotServed', message: `the cluster does not serve ${groupResource(kind)}` };
  if (!(error instanceof StatusError) || !(error.reason === 'Forbidden' || isFault(error))) return undefined;
  return { reason: error.reason, message: error.message };
}

async function arrive(engine: Engine, id: TargetId, share: ShareView): Promise<Retry | undefined> {
  const record = recordFor(engine, id);
  const place = parseTarget(id, share.spec?.ref);
  const manifest = share.spec?.manifest;
  if (!manifest) return undefined;
  delete record.stays;
  delete record.gone;
  record.waits = share.spec?.share.paused === true;
  record.requires = (share.spec?.requires ?? []).map((ref) => requiredTarget(share, ref));
  const cached = engine.physical.cached(place.kind, place.namespace, place.name);
  if (!cached && (await isTakenAway(engine, place, share, record))) {
    record.absent = true;
    record.error = undefined;
    engine.up.add(id);
    return { after: takenAwayMs };
  }
  const missing = record.requires.find((required) => !mayFollow(engine, required, cached !== undefined));
  if (missing) {
    const why = engine.records.get(missing)?.error;
    if (why) {
      const message = `${missing}: ${why.reason}: ${why.message}`;
      setError(engine, id, record, { reason: 'RequirementFailed', message });
    }
    return { after: closureWaitMs };
  }
  if (isEarly(engine, record, cached !== undefined)) return { after: closureWaitMs };
  const pause = repairDelay(record, cached, manifest);
  if (pause > 0) return { after: pause };
  if (share.spec?.isBeside && record.manifest !== manifestDigest(manifest) && paceDelay(record) > 0)
    return { after: paceDelay(record) };
  const before = record.manifest;
  try {
    const wait = await engine.rush.make(() => applyShare(engine, { share, manifest, place, record, cached }));
    if (wait) {
      if (wait.why) setError(engine, id, record, wait.why);
      return { after: wait.retryAfter };
    }
  } catch (error) {
    // Who is busy has refused nothing.
    if (error instanceof StatusError && (isFault(error) || absenceOf(error) !== 'notAnswering')) {
      if (share.spec?.isBeside)
        return refusedBeside(engine, id, { record, manifest: manifestDigest(manifest) }, error);
      setError(engine, id, record, { reason: error.reason, message: error.message });
    }
    // Its namespace goes there, as it was empty: its Placement says so, and nothing has failed.
    if (isStatusError(error, terminating)) return { after: 'growing' };
    throw error;
  }
  record.absent = false;
  record.orphans = false;
  delete record.refused;
  record.error = undefined;
  engine.up.add(id);
  if (record.manifest !== before) wakeOthers(engine, id, share);
  return undefined;
}

/**
 * kube-apiserver answers 500 of what it cannot apply, such as a list that says one key twice, and of what an admission webhook that does
 * not answer keeps from it: neither passes by itself.
 */
function isFault({ code, message }: StatusError): boolean {
  return code === 500 && faults.some((words) => message.startsWith(words));
}

const faults = ['failed to create typed patch object', 'Internal error occurred: '];

/**
 * Its owner's controller has deleted it there, as a Deployment's does with what its revisionHistoryLimit does not keep. Where the owner
 * itself goes, or was taken away by somebody, it went along, and is made again: also where that owner was made again before
 * this is asked, and where this syncer has not seen whose it was. Then a controller that does not keep it deletes it once more.
 */
async function isTakenAway(
  { physical, shares }: Engine,
  { kind, namespace, name }: TargetPlace,
  { spec, status }: ShareView,
  { controller }: TargetRecord,
): Promise<boolean> {
  if (spec?.ref.kind !== 'ReplicaSet' || !status?.owner || controller === undefined) return false;
  const owner = shares
    .byIndex('namespace', spec.physicalNamespace)
    .find((one) => one.spec?.ref.uid === status.owner?.uid && one.spec?.manifest);
  if (!owner?.spec) return false;
  await physical.watch(kind);
  if ((await physical.read(kind, namespace, name)) !== undefined) return false;
  const place = parseTarget(targetOf(owner), owner.spec.ref);
  await physical.watch(place.kind);
  const alive = await physical.read(place.kind, place.namespace, place.name);
  return alive?.metadata.uid === controller && alive.metadata.deletionTimestamp === undefined;
}

/** No Placement tells of it, and who serves requests from there waits for it: it is told here, and tried again soon. */
function refusedBeside(
  engine: Engine,
  id: TargetId,
  { record, manifest }: { record: TargetRecord; manifest: string },
  refusal: StatusError,
): Retry {
  const { reason, message } = refusal;
  if (record.error?.message !== message)
    engine.logger.warn(
      { cluster: engine.name, target: id, reason, error: message },
      'endpoints of other clusters are refused',
    );
  record.error = { reason, message };
  const now = Date.now();
  if (record.refused?.manifest !== manifest) record.refused = { manifest, since: now };
  return { after: Math.min(refusedMs.most, Math.max(refusedMs.least, now - record.refused.since)) };
}

/**
 * A requirement that the view has must be applied as it now is; one that failed does not stop what runs. One that leaves,
 * though its object lives, is about to join again: until then it may be what it was before. One that cannot go there, and
 * so cannot come either, is waited for by nobody.
 */
function mayFollow(engine: Engine, required: TargetId, isThere: boolean): boolean {
  const share = shareFor(engine, required);
  if (share?.spec?.moved) return isThere;
  if (!share?.spec?.manifest) return true;
  const record = engine.records.get(required);
  if (record?.error) return isThere || record.error.reason === terminating;
  return record?.manifest === manifestDigest(share.spec.manifest);
}

function setError(
  engine: Engine,
  id: TargetId,
  record: TargetRecord,
  error: { reason: string; message: string },
): void {
  record.error = error;
  engine.up.add(id);
}

/** What may have waited for this target: workloads for their closure, the closure for its workloads. */
export function wakeOthers(
  engine: Pick<Engine, 'shares' | 'records' | 'down'>,
  id: TargetId,
  share: ShareView | undefined,
): void {
  for (const dependent of engine.shares.byIndex('requires', id)) engine.down.add(targetOf(dependent));
  const required = engine.records.get(id)?.requires ?? [];
  if (!share?.spec?.manifest) for (const other of required) engine.down.add(other);
}
