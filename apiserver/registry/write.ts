import { withGiven } from '../../cluster/given.ts';
import { withPodsGeneration } from '../../cluster/pod-admission.ts';
import { deepCopy, deepEqual } from '../../kube/deep.ts';
import { isLater, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReset } from '../../kube/patch/managers.ts';
import { conflict, isStatusError, type StatusCause, staleObject } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { validateStatus, validateUpdate } from '../../kube/validation/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import { dedupOwners, settleAdmitted } from './admitted.ts';
import { asStored, decodeStored, encodeStored, written } from './codec.ts';
import { defaulted, refuse, shownLater, type WriteContext, warn, writeOf } from './context.ts';
import { finishesDeletion } from './delete.ts';
import { translate } from './errors.ts';
import type { KeyParts } from './keys.ts';
import { unclaim } from './kinds/claims.ts';
import type { KindWrite } from './kinds/hooks.ts';
import { servedAs } from './kinds/versions.ts';
import { hooksOf } from './kinds.ts';
import { managersAfter } from './managers.ts';
import { checkPreconditions, keepSystemMetadata } from './metadata.ts';
import { keepReserved } from './reserved.ts';
import { isStale } from './stale.ts';
import { keepTimes } from './times.ts';
import type { ObjectRegistry } from './types.ts';

const updateTries = 5;

/**
 * `change` gets a copy that is its own, and is called again when somebody wrote in between. Who `guesses` begins with what this process
 * saw last, which costs no question: that what is written is written over just that is seen to by the store. Any other outcome, be
 * it a refusal, or that there is nothing to write or to keep, is that of an object that may be long gone: it is read, and decided anew.
 */
export async function updateObject(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  change: (current: KubeObject) => Later<KubeObject>,
  context: WriteContext,
): Promise<KubeObject> {
  const seen = context.guesses && !context.dryRun ? registry.seen(served, address) : undefined;
  const done = seen && (await guessed(registry, served, address, { entry: seen, change }, context));
  if (done) return done;
  for (let tries = 1; ; tries++) {
    let entry = await registry.read(served, address);
    const turn = context.longTurn?.(entry.value.length);
    // Who waited may have been overtaken: whatever is changed then would be refused.
    if (turn) entry = await turn.then(() => registry.read(served, address));
    try {
      const own = servedAs(served, entry.value) ?? served;
      return await updateOnce(registry, own, address, { entry, change }, context);
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (context.pinned || tries >= updateTries) throw conflict(served.info, address.name, staleObject);
    }
  }
}

class LostRace extends Error {}

/** Nothing is written of it. */
class Unsure extends Error {}

/** What was written; undefined: it is to be read. What becomes of a write that the store does not answer for is not tried again. */
async function guessed(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  { entry, change }: Step,
  context: WriteContext,
): Promise<KubeObject | undefined> {
  const guess: Guess = { reached: 'nothing' };
  try {
    const own = servedAs(served, entry.value) ?? served;
    return await updateOnce(registry, own, address, { entry, change, guess }, context);
  } catch (error) {
    if (error instanceof LostRace) return undefined;
    if (guess.reached === 'written') throw error;
    if (guess.reached === 'store' && !(isStatusError(error) && error.code < 500)) throw error;
    return undefined;
  }
}

/** How far it came: before the store is asked, whatever is answered is said of what may be long gone. */
interface Guess {
  reached: 'nothing' | 'store' | 'written';
}

interface Step {
  entry: Entry;
  change: (current: KubeObject) => Later<KubeObject>;
  /** What is there may be another. */
  guess?: Guess;
}

async function updateOnce(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  step: Step,
  context: WriteContext,
): Promise<KubeObject> {
  const write = writeOf(registry, served, address.cluster, context);
  try {
    return await updateWith(write, address, step, context);
  } catch (error) {
    await unclaim(write, error);
    throw error;
  }
}

async function updateWith(
  write: KindWrite,
  address: KeyParts,
  step: Step,
  context: WriteContext,
): Promise<KubeObject> {
  const { registry, served } = write;
  const { entry, guess } = step;
  const old = decodeStored(entry);
  const changing = step.change(deepCopy(old));
  const changed = isLater(changing) ? await changing : changing;
  checkPreconditions(changed, old.metadata, served.info, context.patched);
  let next = begin(changed, old, served, context);
  if (!context.managed) {
    const managed = managersAfter(old, next, write, context);
    next = isLater(managed) ? await managed : managed;
  }
  const { managedFields: managers } = next.metadata;
  const mutating = context.mutate?.(next, old);
  if (mutating) await mutating;
  settleAdmitted(next, { namespace: old.metadata.namespace ?? '', managers }, context.warn);
  checkPreconditions(next, old.metadata, served.info, true);
  keepTimes(next, old, changed.metadata);
  const preparing = hooksOf(served).prepare?.(write, next, old);
  if (preparing) await preparing;
  const subresource = context.subresource ?? '';
  strategyFor(served.info).prepareForUpdate(next, old, subresource === '' ? undefined : subresource);
  hooksOf(served).settle?.(next, old, subresource);
  next = withPodsGeneration(withGiven(next, old), old);
  const causes =
    served.validate?.(next, old, subresource, context.warn) ??
    validateUpdate(
      next,
      old,
      served.info,
      subresource === '' ? undefined : subresource,
      context.requested?.info,
    );
  if (subresource === 'status' && context.checksStatus)
    causes.push(...(await statusCauses(write, next, old)));
  const more = subresource === '' ? hooksOf(served).causes : undefined;
  if (more) causes.push(...(await more(write, next, old)));
  refuse(causes, served, address.name);
  if (subresource === '') warn(next, old, served, context);
  // Who names none updates what is there: whoever is asked is told of which version that is.
  next.metadata.resourceVersion ??= old.metadata.resourceVersion ?? '';
  const validating = context.validate?.(next, old);
  if (validating) await validating;
  next = shownLater(next, served, context);
  next.metadata.resourceVersion = String(entry.revision);
  const isSame = deepEqual(next, old) && !isStale(entry);
  if (guess && (isSame || finishesDeletion(next, served))) throw new Unsure();
  if (finishesDeletion(next, served)) return finishDeletion(write, entry, { old, object: next }, context);
  if (isSame) return next;
  if (context.dryRun) return await tried(registry, entry, { name: address.name, next }, context);
  try {
    const update = (bytes: Uint8Array) => {
      const adds = context.bounded ? { adds: bytes.length - entry.value.length } : undefined;
      write.asked = true;
      return registry.store.update(entry.key, bytes, entry.revision, adds);
    };
    if (guess) guess.reached = 'store';
    const now = await written(entry.key, next, update);
    if (guess) guess.reached = 'written';
    await hooksOf(served).committed?.(write, address.name, { object: next, old, revision: now.revision });
    context.stored?.(now);
    return registry.converting ? decodeStored(now) : asStored(next, now);
  } catch (error) {
    throw raced(translate(error, served.info, address.name));
  }
}

/** What is to be written, before anybody else has a say: as create.ts has it of what is new. */
function begin(
  changed: KubeObject,
  old: KubeObject,
  served: ServedResource,
  context: WriteContext,
): KubeObject {
  const reset = isReset(changed.metadata);
  const next = defaulted({ ...changed, metadata: { ...changed.metadata } }, served);
  if (reset) next.metadata.managedFields = [];
  keepSystemMetadata(next, old);
  keepReserved(next, old);
  if (!context.patched) dedupOwners(next, context.warn);
  return next;
}

/** What is wrong with a status that a user tells. */
async function statusCauses(write: KindWrite, next: KubeObject, old: KubeObject): Promise<StatusCause[]> {
  const { served } = write;
  const access = hooksOf(served).statusCauses;
  return [...(access ? await access(write, next, old) : []), ...validateStatus(next, old, served.info)];
}

/** What would be written, if there is room for it. */
async function tried(
  registry: ObjectRegistry,
  entry: Entry,
  { name, next }: { name: string; next: KubeObject },
  { room }: WriteContext,
): Promise<KubeObject> {
  if (room) await room({ key: entry.key, name, value: encodeStored(next), before: entry.value });
  return registry.converting ? await registry.converting.written(next) : next;
}

/** The last finalizer went: the update is the deletion. */
async function finishDeletion(
  write: KindWrite,
  entry: Entry,
  { old, object }: { old: KubeObject; object: KubeObject },
  context: WriteContext,
): Promise<KubeObject> {
  if (context.dryRun) return object;
  const name = object.metadata.name ?? '';
  try {
    await hooksOf(write.served).leaving?.(write, name);
    const { revision } = await write.registry.store.delete(entry.key, entry.revision);
    await hooksOf(write.served).committed?.(write, name, { object: undefined, old, revision });
  } catch (error) {
    throw raced(translate(error, write.served.info, name));
  }
  return object;
}

function raced(error: Error): Error {
  return isStatusError(error, 'Conflict') ? new LostRace() : error;
}
