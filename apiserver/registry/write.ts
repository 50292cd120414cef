import { withGiven } from '../../cluster/given.ts';
import { withPodsGeneration } from '../../cluster/pod-admission.ts';
import { deepEqual } from '../../kube/deep.ts';
import { isLater, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReset } from '../../kube/patch/managers.ts';
import { conflict, isStatusError, staleObject } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { validateUpdate } from '../../kube/validation/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import { decodeStored, encodeStored, written } from './codec.ts';
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

/** `change` gets a copy that is its own, and is called again when somebody wrote in between. */
export async function updateObject(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  change: (current: KubeObject) => Later<KubeObject>,
  context: WriteContext,
): Promise<KubeObject> {
  for (let tries = 1; ; tries++) {
    const entry = await registry.read(served, address);
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

async function updateOnce(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  step: { entry: Entry; change: (current: KubeObject) => Later<KubeObject> },
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
  step: { entry: Entry; change: (current: KubeObject) => Later<KubeObject> },
  context: WriteContext,
): Promise<KubeObject> {
  const { registry, served } = write;
  const { entry } = step;
  const old = decodeStored(entry);
  const changing = step.change(decodeStored(entry));
  const changed = isLater(changing) ? await changing : changing;
  checkPreconditions(changed, old.metadata, served.info, context.patched);
  const reset = isReset(changed.metadata);
  let next = defaulted({ ...changed, metadata: { ...changed.metadata } }, served);
  if (reset) next.metadata.managedFields = [];
  keepSystemMetadata(next, old);
  keepReserved(next, old);
  if (!context.managed) {
    const managed = managersAfter(old, next, write, context);
    next = isLater(managed) ? await managed : managed;
  }
  const mutating = context.mutate?.(next, old);
  if (mutating) await mutating;
  keepTimes(next, old, changed.metadata);
  const preparing = hooksOf(served).prepare?.(write, next, old);
  if (preparing) await preparing;
  const subresource = context.subresource ?? '';
  strategyFor(served.info).prepareForUpdate(next, old, subresource === '' ? undefined : subresource);
  hooksOf(served).settle?.(next, old, subresource);
  next = withPodsGeneration(withGiven(next, old), old);
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
  refuse(causes, served, address.name);
  if (subresource === '') warn(next, old, served, context);
  const validating = context.validate?.(next, old);
  if (validating) await validating;
  next = shownLater(next, served, context);
  next.metadata.resourceVersion = String(entry.revision);
  if (finishesDeletion(next, served)) return finishDeletion(write, entry, { old, object: next }, context);
  if (deepEqual(next, old) && !isStale(entry)) return next;
  if (context.dryRun) {
    if (context.room) {
      await context.room({
        key: entry.key,
        name: address.name,
        value: encodeStored(next),
        before: entry.value,
      });
    }
    return registry.converting ? await registry.converting.written(next) : next;
  }
  try {
    const update = (bytes: Uint8Array) => {
      const adds = context.bounded ? { adds: bytes.length - entry.value.length } : undefined;
      return registry.store.update(entry.key, bytes, entry.revision, adds);
    };
    const now = await written(next, update);
    await hooksOf(served).committed?.(write, address.name, { object: next, old, revision: now.revision });
    return decodeStored(now);
  } catch (error) {
    throw raced(translate(error, served.info, address.name));
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
