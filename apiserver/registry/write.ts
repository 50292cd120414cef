import { deepEqual } from '../../kube/deep.ts';
import { applyDefaults, normaliseMetadata } from '../../kube/defaults/index.ts';
import type { UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReset } from '../../kube/patch/managers.ts';
import { conflict, invalid, isStatusError, type StatusCause, staleObject } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { validateUpdate } from '../../kube/validation/index.ts';
import { warningsOf } from '../../kube/warnings/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../options.ts';
import { decodeStored, written } from './codec.ts';
import { finishesDeletion } from './delete.ts';
import { translate } from './errors.ts';
import { unclaim } from './kinds/claims.ts';
import { hooksOf, type KindWrite } from './kinds.ts';
import { withManagers } from './managers.ts';
import { checkPreconditions, keepSystemMetadata } from './metadata.ts';
import type { ObjectRegistry } from './registry.ts';
import { keepReserved } from './reserved.ts';
import { keepTimes } from './times.ts';
import type { WriteOptions } from './types.ts';

/** A write with what HTTP adds to it. */
export interface WriteContext extends WriteOptions {
  /** Admission. */
  mutate?(object: KubeObject, old: KubeObject | undefined): Promise<void> | undefined;
  validate?(object: KubeObject, old: KubeObject | undefined): Promise<void> | undefined;
  /** The object to create is nobody else's: it need not be copied before it is changed. */
  owned?: boolean;
  /** The client named the resourceVersion it saw: a lost race is its conflict, not ours to try again. */
  pinned?: boolean;
  /** A resourceVersion in the object to create is an error, which a dry run does not come to. */
  refuseVersion?: boolean;
  /** Who writes; absent for the server's own writes. */
  user?: UserInfo;
  /** What is said beside the answer. */
  warn?(message: string): void;
  /** The name was made of generateName. */
  generated?: boolean;
  /** What is written is a patch of what is there: only a uid that was sent whole is a precondition. */
  patched?: boolean;
  /** Hears what a create stored: for those who answer with its bytes. */
  stored?(entry: Entry): void;
  /** In the group and version that the client speaks; default: as it is stored. */
  requested?: ServedResource;
}

export interface Place {
  cluster: string;
  namespace: string;
}

const updateTries = 5;

/** `change` gets a copy that is its own, and is called again when somebody wrote in between. */
export async function updateObject(
  registry: ObjectRegistry,
  served: ServedResource,
  at: Place & { name: string },
  change: (current: KubeObject) => KubeObject | Promise<KubeObject>,
  context: WriteContext,
): Promise<KubeObject> {
  for (let tries = 1; ; tries++) {
    const entry = await registry.read(served, at);
    try {
      return await updateOnce(registry, served, at, { entry, change }, context);
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (context.pinned || tries >= updateTries) throw conflict(served.info, at.name, staleObject);
    }
  }
}

class LostRace extends Error {}

async function updateOnce(
  registry: ObjectRegistry,
  served: ServedResource,
  at: Place & { name: string },
  step: { entry: Entry; change: (current: KubeObject) => KubeObject | Promise<KubeObject> },
  context: WriteContext,
): Promise<KubeObject> {
  const write = writeOf(registry, served, at.cluster, context);
  try {
    return await updateWith(write, at, step, context);
  } catch (error) {
    await unclaim(write, error);
    throw error;
  }
}

async function updateWith(
  write: KindWrite,
  at: Place & { name: string },
  step: { entry: Entry; change: (current: KubeObject) => KubeObject | Promise<KubeObject> },
  context: WriteContext,
): Promise<KubeObject> {
  const { registry, served } = write;
  const { entry } = step;
  const old = decodeStored(entry);
  const changing = step.change(decodeStored(entry));
  const changed = changing instanceof Promise ? await changing : changing;
  checkPreconditions(changed, old.metadata, served.info, context.patched);
  const reset = isReset(changed.metadata);
  let next = defaulted({ ...changed, metadata: { ...changed.metadata } }, served);
  if (reset) next.metadata.managedFields = [];
  keepSystemMetadata(next, old);
  keepReserved(next, old);
  if (!context.managed) next = withManagers(old, next, write, context);
  const mutating = context.mutate?.(next, old);
  if (mutating) await mutating;
  keepTimes(next, old, changed.metadata);
  const preparing = hooksOf(served).prepare?.(write, next, old);
  if (preparing) await preparing;
  const subresource = context.subresource ?? '';
  strategyFor(served.info).prepareForUpdate(next, old, subresource === '' ? undefined : subresource);
  hooksOf(served).settle?.(next, old, subresource);
  const causes =
    served.validate?.(next, old, subresource) ??
    validateUpdate(
      next,
      old,
      served.info,
      subresource === '' ? undefined : subresource,
      context.requested?.info,
    );
  const more = subresource === '' ? hooksOf(served).causes : undefined;
  if (more) causes.push(...(await more(write, next, old)));
  refuse(causes, served, at.name);
  if (subresource === '') warn(next, old, served, context);
  const validating = context.validate?.(next, old);
  if (validating) await validating;
  next = shownLater(next, served, context);
  next.metadata.resourceVersion = String(entry.revision);
  if (finishesDeletion(next, served)) return finishDeletion(write, entry, { old, object: next }, context);
  if (context.dryRun || deepEqual(next, old)) return next;
  try {
    const update = (bytes: Uint8Array) => registry.store.update(entry.key, bytes, entry.revision);
    const now = await written(next, update);
    await hooksOf(served).committed?.(write, at.name, { object: next, old, revision: now.revision });
    return decodeStored(now);
  } catch (error) {
    throw raced(translate(error, served.info, at.name));
  }
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

export function writeOf(
  registry: ObjectRegistry,
  served: ServedResource,
  cluster: string,
  context: WriteContext,
): KindWrite {
  const { subresource = '', dryRun = false, user } = context;
  return { registry, served, cluster, subresource, dryRun, user, claims: [] };
}

export function defaulted(object: KubeObject, served: ServedResource): KubeObject {
  if (!served.custom) return applyDefaults(object, served.info);
  const metadata = normaliseMetadata(object.metadata);
  return served.defaults?.({ ...object, metadata }) ?? { ...object, metadata };
}

/** What was applied is validated with its nulls, and from then on shown without those that have no place. */
export function shownLater(object: KubeObject, served: ServedResource, context: WriteContext): KubeObject {
  return (context.managed && served.coerce?.(object).object) || object;
}

export function refuse(causes: readonly StatusCause[], served: ServedResource, name: string): void {
  if (causes.length > 0) throw invalid(served.info.group, served.info.kind, name, [...causes]);
}

export function warn(
  object: KubeObject,
  old: KubeObject | undefined,
  served: ServedResource,
  context: WriteContext,
): void {
  if (context.warn === undefined || served.custom) return;
  for (const message of warningsOf(object, old, served.info)) context.warn(message);
}
