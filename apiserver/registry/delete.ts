import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflict, isStatusError, staleObject } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { Entry } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import { decodeStored, encodeStored } from './codec.ts';
import { translate } from './errors.ts';
import { endOf, graceOf } from './grace.ts';
import type { KeyParts } from './keys.ts';
import { checkClassDeletable } from './kinds/classes.ts';
import { asDefined } from './kinds/defined.ts';
import { cleanupFinalizer } from './kinds/ending.ts';
import { type Condition, conditionsOf, withCondition } from './kinds/own-status.ts';
import { hooksOf } from './kinds.ts';
import { checkDeletePreconditions, deletesItself } from './metadata.ts';
import { checkNamespaceDeletable } from './namespaces.ts';
import type { DeleteOptions, ObjectRegistry } from './types.ts';

/** Whoever does not say which state they delete means whatever there is, however busily others write it. */
const tries = 100;
const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

export interface Deleted {
  object: KubeObject;
  /** False: finalizers or a grace period keep it; `object` shows it as it is now. */
  gone: boolean;
}

export interface DeleteContext extends DeleteOptions {
  /** Admission, with the object as it stands and the time that it is given. */
  validate?(object: KubeObject, grace: number | undefined): Promise<void>;
  /** Waited for before an object of so many bytes is looked at. */
  longTurn?: ((bytes: number) => Promise<void> | undefined) | undefined;
  /** Whoever asked was answered, or has gone: nothing more is tried. */
  signal?: AbortSignal | undefined;
}

/**
 * Deletes, or marks as being deleted what finalizers or a grace period keep.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
export async function deleteObject(
  registry: ObjectRegistry,
  served: ServedResource,
  address: KeyParts,
  options: DeleteContext,
): Promise<Deleted> {
  const { group, resource } = served.info;
  if (!options.collection) checkClassDeletable(served.info, address.name);
  for (let attempt = 1; ; attempt++) {
    let entry = await registry.read(served, address);
    const turn = options.longTurn?.(entry.value.length);
    if (turn) entry = await turn.then(() => registry.read(served, address));
    const object = decodeStored(entry);
    checkDeletePreconditions(options, object, served.info);
    if (group === '' && resource === 'namespaces') checkNamespaceDeletable(address.name);
    await options.validate?.(object, graceOf(object, served, options.gracePeriodSeconds));
    try {
      return await deleteOnce(registry, served, address.cluster, { entry, object }, options);
    } catch (error) {
      const failure = translate(error, served.info, address.name);
      if (!isStatusError(failure, 'Conflict')) throw failure;
      if (attempt >= tries || options.signal?.aborted) throw conflict(served.info, address.name, staleObject);
    }
  }
}

async function deleteOnce(
  registry: ObjectRegistry,
  served: ServedResource,
  cluster: string,
  { entry, object }: { entry: Entry; object: KubeObject },
  options: DeleteOptions,
): Promise<Deleted> {
  const write = { registry, served, cluster, subresource: '', dryRun: options.dryRun ?? false, claims: [] };
  const name = object.metadata.name ?? '';
  const marked = markDeleted(object, served, options, new Date());
  if (finishesDeletion(marked, served)) {
    const shown = strategyFor(served.info).graceful ? marked : object;
    if (options.dryRun) return { object: shown, gone: true };
    await hooksOf(served).leaving?.(write, name);
    // Whoever watches sees that it is being deleted before it goes.
    const last =
      shown === object ? entry : await registry.store.update(entry.key, encodeStored(marked), entry.revision);
    const deleted = await registry.store.delete(last.key, last.revision);
    const { revision } = deleted;
    await hooksOf(served).committed?.(write, name, { object: undefined, old: object, revision });
    return { object: decodeStored(asDefined(deleted, served, true)), gone: true };
  }
  if (options.dryRun) return { object: marked, gone: false };
  if (deepEqual(marked, object)) return { object, gone: false };
  const written = await registry.store.update(entry.key, encodeStored(marked), entry.revision);
  const { revision } = written;
  await hooksOf(served).committed?.(write, name, { object: marked, old: object, revision });
  return { object: decodeStored(written), gone: false };
}

/** The object with deletionTimestamp, grace and the finalizers that the propagation policy asks for. */
function markDeleted(
  object: KubeObject,
  served: ServedResource,
  options: DeleteOptions,
  now: Date,
): KubeObject {
  const { metadata } = object;
  const first = metadata.deletionTimestamp === undefined;
  const finalizers = propagated(metadata.finalizers ?? [], served, options.propagationPolicy);
  if (first && isDefinition(served) && !finalizers.includes(cleanupFinalizer))
    finalizers.push(cleanupFinalizer);
  const own = deletesItself(served.info) && !options.collection;
  const { graceful } = strategyFor(served.info);
  const grace = (graceful ? graceOf(object, served, options.gracePeriodSeconds) : undefined) ?? 0;
  const before = metadata.deletionGracePeriodSeconds;
  const { finalizers: _, ...rest } = metadata;
  const marked: KubeObject = {
    ...object,
    metadata: {
      ...rest,
      ...(finalizers.length > 0 && { finalizers }),
      ...(first && !own && metadata.generation !== undefined && { generation: metadata.generation + 1 }),
      ...((first || (before !== undefined && grace < before)) && {
        deletionTimestamp: timestamp(endOf(object, grace, now)),
        ...(!own && { deletionGracePeriodSeconds: grace }),
      }),
    },
  };
  if (served.info.group === '' && served.info.kind === 'Namespace') {
    marked.status = { ...(object.status as object), phase: 'Terminating' };
  }
  if (first && own && isDefinition(served)) {
    marked.status = { ...(object.status as object), conditions: withCondition(conditionsOf(object), ending) };
  }
  return marked;
}

const ending: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
};

function isDefinition({ info }: ServedResource): boolean {
  return info.group === 'apiextensions.k8s.io' && info.resource === 'customresourcedefinitions';
}

/** Kinds whose dependents stay when nobody says otherwise. */
const orphaning = new Set(['batch/jobs', '/replicationcontrollers']);

function propagated(
  finalizers: readonly string[],
  { info: { group, resource } }: ServedResource,
  asked: DeleteOptions['propagationPolicy'],
): string[] {
  const kept = finalizers.some((name) => name === orphanFinalizer || name === foregroundFinalizer);
  const policy = asked ?? (!kept && orphaning.has(`${group}/${resource}`) ? 'Orphan' : undefined);
  // Nothing depends on Events.
  if (policy === undefined || resource === 'events') return [...finalizers];
  const others = finalizers.filter((f) => f !== orphanFinalizer && f !== foregroundFinalizer);
  if (policy === 'Orphan') return [...others, orphanFinalizer];
  return policy === 'Foreground' ? [...others, foregroundFinalizer] : others;
}

/** True for an object that is being deleted and that nothing keeps any longer. */
export function finishesDeletion(object: KubeObject, served: ServedResource): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0) return false;
  if (served.info.group === '' && served.info.kind === 'Namespace') {
    return ((object.spec as { finalizers?: string[] } | undefined)?.finalizers?.length ?? 0) === 0;
  }
  return (grace ?? 0) === 0;
}
