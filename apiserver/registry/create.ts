import { deepCopy } from '../../kube/deep.ts';
import { isLater } from '../../kube/later.ts';
import { generateName } from '../../kube/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { alreadyExists, isStatusError, StatusError } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { validateCreate } from '../../kube/validation/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import { dedupOwners, namesRevision, settleAdmitted } from './admitted.ts';
import { asStored, decodeStored, encodeStored, written } from './codec.ts';
import { defaulted, type Place, refuse, shownLater, type WriteContext, warn, writeOf } from './context.ts';
import { translate, translated } from './errors.ts';
import { objectKey } from './keys.ts';
import { unclaim } from './kinds/claims.ts';
import type { KindWrite } from './kinds/hooks.ts';
import { hooksOf } from './kinds.ts';
import { requireStillThere } from './late.ts';
import { withManagers } from './managers.ts';
import { initialiseMetadata } from './metadata.ts';
import { requireNamespace } from './namespaces.ts';
import { keepReserved } from './reserved.ts';
import type { ObjectRegistry } from './types.ts';

const generateTries = 8;

export async function createObject(
  registry: ObjectRegistry,
  served: ServedResource,
  { cluster, namespace }: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const place: Place = { cluster, namespace };
  const { name, generateName: base } = given.metadata ?? {};
  if (served.info.namespaced && namespace !== '') {
    const creating = { resource: served.info, name: name ?? '' };
    const asking = requireNamespace(registry.store, cluster, namespace, creating);
    place.made = isLater(asking) ? await asking : asking;
  }
  if (name || !base) return await createOnce(registry, served, place, given, context);
  for (let tries = 1; ; tries++) {
    const object = named(deepCopy(given), generatedName(served, base));
    try {
      return await createOnce(registry, served, place, object, { ...context, generated: true, owned: true });
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
  place: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const write = writeOf(registry, served, place.cluster, context);
  try {
    return await createWith(write, place, given, context);
  } catch (error) {
    await unclaim(write, error);
    throw error;
  }
}

/** Waits only where there is something to wait for, which mostly is the store alone. */
async function createWith(
  write: KindWrite,
  place: Place,
  given: KubeObject,
  context: WriteContext,
): Promise<KubeObject> {
  const { registry, served } = write;
  const hooks = hooksOf(served);
  let object = begin(write, place, given, context);
  const { managedFields: managers } = object.metadata;
  const mutating = context.mutate?.(object, undefined);
  if (mutating) await mutating;
  const namespace = served.info.namespaced ? place.namespace : '';
  settleAdmitted(object, { namespace, managers }, context.warn);
  // Whoever names one, in the body or in a webhook, is told when nothing else was wrong.
  const resourceVersion = object.metadata.resourceVersion ?? given.metadata?.resourceVersion;
  if (object.metadata.resourceVersion !== undefined) delete object.metadata.resourceVersion;
  const preparing = hooks.prepare?.(write, object, undefined);
  if (preparing) await preparing;
  strategyFor(served.info).prepareForCreate(object, context.warn);
  hooks.settle?.(object, undefined, '');
  const causes =
    served.validate?.(object, undefined, '') ?? validateCreate(object, served.info, context.requested?.info);
  if (hooks.causes) causes.push(...(await hooks.causes(write, object, undefined)));
  refuse(causes, served, object.metadata.name ?? '');
  warn(object, undefined, served, context);
  const validating = context.validate?.(object, undefined);
  if (validating) await validating;
  object = readLater(shownLater(object, served, context), served);
  const name = object.metadata.name ?? '';
  const waited = mutating !== undefined || validating !== undefined;
  const lasting = requireStillThere(registry, place, { served, name, waited });
  if (lasting) await lasting;
  const key = objectKey(served.info, place.cluster, place.namespace, name);
  if (context.dryRun) {
    const there = await translated(registry.store.get(key), served.info, name);
    if (there) throw taken(served, name, there);
    if (context.room) await context.room({ key, name, value: encodeStored(object) });
    if (registry.converting) object = await registry.converting.written(object);
    return resourceVersion ? { ...object, metadata: { ...object.metadata, resourceVersion } } : object;
  }
  if (context.refuseVersion && namesRevision(resourceVersion))
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  let entry: Entry;
  try {
    const { bounded } = context;
    entry = await written(key, object, (bytes) => {
      write.asked = true;
      return registry.store.create(key, bytes, bounded ? { adds: bytes.length } : undefined);
    });
  } catch (error) {
    const refused = translate(error, served.info, name);
    if (!isStatusError(refused, 'AlreadyExists')) throw refused;
    // It is known to be there, also where that cannot be read.
    throw taken(served, name, await registry.store.get(key).catch(() => undefined));
  }
  const committing = hooks.committed?.(write, name, { object, old: undefined, revision: entry.revision });
  if (committing) await committing;
  context.stored?.(entry);
  return registry.converting ? decodeStored(entry) : asStored(object, entry);
}

/** The status that a client said is dropped after the defaults were filled in: who reads it finds the definition's, which nobody wrote. */
function readLater(object: KubeObject, served: ServedResource): KubeObject {
  const lacks = served.subresources?.status === true && object.status === undefined;
  return (lacks && served.defaults?.(object)) || object;
}

function taken({ info }: ServedResource, name: string, there: Entry | undefined): StatusError {
  return alreadyExists(info, name, there && decodeStored(there).metadata.deletionTimestamp !== undefined);
}

/** What is to be created, before anybody else has a say: defaults, what the server sets, who wrote it. */
function begin(write: KindWrite, place: Place, given: KubeObject, context: WriteContext): KubeObject {
  const { served } = write;
  const own = context.owned ? given : deepCopy(given);
  own.metadata ??= {};
  if (served.info.namespaced) own.metadata.namespace = place.namespace;
  else if (own.metadata.namespace !== undefined) delete own.metadata.namespace;
  const { name } = own.metadata;
  // What a generated name brings with it is nobody's: fields are told before there is one.
  if (context.generated) own.metadata = unnamed(own.metadata);
  const object = defaulted(own, served);
  keepReserved(object);
  if (!context.managed) dedupOwners(object, context.warn);
  initialiseMetadata(object, Date.now());
  const managed = withManagers(undefined, object, write, context);
  return context.generated && name !== undefined ? named(managed, name) : managed;
}

function unnamed({ name: _, ...rest }: KubeObject['metadata']): KubeObject['metadata'] {
  return rest;
}
