import { deepCopy, deepEqual } from '../../kube/deep.ts';
import { applyDefaults, normaliseMetadata } from '../../kube/defaults/index.ts';
import type { UserInfo } from '../../kube/http.ts';
import { generateName } from '../../kube/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReset } from '../../kube/patch/managers.ts';
import {
  alreadyExists,
  conflict,
  invalid,
  isStatusError,
  type StatusCause,
  StatusError,
  staleObject,
} from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { validateCreate, validateUpdate } from '../../kube/validation/index.ts';
import { warningsOf } from '../../kube/warnings/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../options.ts';
import { unclaim } from './claims.ts';
import { asStored, decodeStored, encodeStored } from './codec.ts';
import { finishesDeletion } from './delete.ts';
import { translate, translated } from './errors.ts';
import { objectKey } from './keys.ts';
import { hooksOf, type KindWrite } from './kinds.ts';
import { withManagers } from './managers.ts';
import { checkPreconditions, initialiseMetadata, keepSystemMetadata } from './metadata.ts';
import { requireNamespace } from './namespaces.ts';
import type { ObjectRegistry } from './registry.ts';
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

const generateTries = 8;
const updateTries = 5;

export async function createObject(
  registry: ObjectRegistry,
  served: ServedResource,
  at: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const { name, generateName: base } = given.metadata ?? {};
  if (served.info.namespaced && at.namespace !== '') {
    const asking = requireNamespace(registry, at.cluster, at.namespace, { served, name: name ?? '' });
    if (asking) await asking;
  }
  if (name || !base) return await createOnce(registry, served, at, given, context);
  for (let tries = 1; ; tries++) {
    const object = named(deepCopy(given), generatedName(served, base));
    try {
      return await createOnce(registry, served, at, object, { ...context, generated: true, owned: true });
    } catch (error) {
      if (tries >= generateTries || !isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}

/** The name of an IPAddress is its address: there is nothing to add. */
function generatedName({ info }: ServedResource, base: string): string {
  return info.resource === 'ipaddresses' && info.group === 'networking.k8s.io' ? base : generateName(base);
}

function named(object: KubeObject, name: string): KubeObject {
  return { ...object, metadata: { name, ...unnamed(object.metadata) } };
}

async function createOnce(
  registry: ObjectRegistry,
  served: ServedResource,
  at: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const write = writeOf(registry, served, at.cluster, context);
  try {
    return await createWith(write, at, given, context);
  } catch (error) {
    await unclaim(write, error);
    throw error;
  }
}

/** Waits only where there is something to wait for, which mostly is the store alone. */
async function createWith(
  write: KindWrite,
  at: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const { registry, served } = write;
  const { resourceVersion } = given.metadata ?? {};
  const hooks = hooksOf(served);
  const object = begin(write, at, given, context);
  const mutating = context.mutate?.(object, undefined);
  if (mutating) await mutating;
  const preparing = hooks.prepare?.(write, object, undefined);
  if (preparing) await preparing;
  strategyFor(served.info).prepareForCreate(object);
  hooks.settle?.(object, undefined, '');
  const causes =
    served.validate?.(object, undefined, '') ?? validateCreate(object, served.info, context.requested?.info);
  if (hooks.causes) causes.push(...(await hooks.causes(write, object, undefined)));
  refuse(causes, served, object.metadata.name ?? '');
  warn(object, undefined, served, context);
  const validating = context.validate?.(object, undefined);
  if (validating) await validating;
  const name = object.metadata.name ?? '';
  const key = objectKey(served.info, at.cluster, at.namespace, name);
  if (context.dryRun) {
    const there = await translated(registry.store.get(key), served.info, name);
    if (there) throw alreadyExists(served.info, name);
    return resourceVersion ? { ...object, metadata: { ...object.metadata, resourceVersion } } : object;
  }
  if (context.refuseVersion && resourceVersion)
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  const entry = await translated(registry.store.create(key, encodeStored(object)), served.info, name);
  const committing = hooks.committed?.(write, name, { object, old: undefined, revision: entry.revision });
  if (committing) await committing;
  context.stored?.(entry);
  return asStored(object, entry);
}

/** What is to be created, before anybody else has a say: defaults, what the server sets, who wrote it. */
function begin(write: KindWrite, at: Place, given: KubeObject, context: WriteContext): KubeObject {
  const { served } = write;
  const own = context.owned ? given : deepCopy(given);
  own.metadata ??= {};
  if (served.info.namespaced) own.metadata.namespace = at.namespace;
  else if (own.metadata.namespace !== undefined) delete own.metadata.namespace;
  const { name } = own.metadata;
  // What a generated name brings with it is nobody's: fields are told before there is one.
  if (context.generated) own.metadata = unnamed(own.metadata);
  const object = defaulted(own, served);
  initialiseMetadata(object, Date.now());
  const managed = withManagers(undefined, object, write, context);
  return context.generated && name !== undefined ? named(managed, name) : managed;
}

function unnamed({ name: _, ...rest }: KubeObject['metadata']): KubeObject['metadata'] {
  return rest;
}

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
  next.metadata.resourceVersion = String(entry.revision);
  if (finishesDeletion(next, served)) return finishDeletion(write, entry, { old, object: next }, context);
  if (context.dryRun || deepEqual(next, old)) return next;
  try {
    const written = await registry.store.update(entry.key, encodeStored(next), entry.revision);
    await hooksOf(served).committed?.(write, at.name, { object: next, old, revision: written.revision });
    return decodeStored(written);
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

function writeOf(
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

export function refuse(causes: readonly StatusCause[], served: ServedResource, name: string): void {
  if (causes.length > 0) throw invalid(served.info.group, served.info.kind, name, [...causes]);
}

function warn(
  object: KubeObject,
  old: KubeObject | undefined,
  served: ServedResource,
  context: WriteContext,
): void {
  if (context.warn === undefined || served.custom) return;
  for (const message of warningsOf(object, old, served.info)) context.warn(message);
}
