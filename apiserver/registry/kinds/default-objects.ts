import { deepCopy } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { bootstrapVersion } from '../../../kube/rbac/bootstrap.ts';
import { alreadyExists, isStatusError } from '../../../kube/status.ts';
import { type Entry, StoreError } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { encodeStored } from '../codec.ts';
import {
  type DefaultKind,
  defaultKind,
  defaultObjects,
  type Followed,
  isWritten,
  managerOf,
  noteKey,
  storedAs,
  tellWritten,
} from '../defaults.ts';
import { objectKey } from '../keys.ts';
import type { ObjectRegistry } from '../types.ts';
import { aggregateAll } from './aggregation.ts';
import type { KindWrite } from './hooks.ts';

const atOnce = 32;

/**
 * Until somebody looks for them, a logical cluster's defaults (roles, bindings, FlowSchemas, priority levels) are no objects: docs/decisions/0027.
 * A dry run writes none; a read is answered where the store takes no writes, too. Deletions say later whether they
 * are dry.
 */
export function showDefaults(exchange: ResourceExchange, dryRun?: boolean): Promise<void> | undefined {
  const { core, info } = exchange;
  const resource = defaultKind(info.group, info.resource);
  if (resource === undefined || info.cluster === '*' || !concerns(resource, info)) return undefined;
  if (dryRun === undefined && (info.verb === 'delete' || info.verb === 'deletecollection')) return undefined;
  if (isWritten(core.registry, info.cluster, resource)) return undefined;
  const isRead = reads.has(info.verb);
  const isDry = dryRun ?? info.query.getAll('dryRun').some(Boolean);
  if (isRead ? core.store.refusing !== undefined : isDry) {
    exchange.beside = true;
    return undefined;
  }
  return writeDefaults(core.registry, info.cluster, resource)?.catch((error: unknown) => {
    if (!isRead || !takesNoWrites(error)) throw error;
    exchange.beside = true;
  });
}

const reads = new Set(['get', 'list', 'watch']);

/** Of a store that takes no writes now, whoever says so. */
function takesNoWrites(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'full' || error.code === 'unavailable';
  return isStatusError(error) && (error.code === 507 || error.code === 503);
}

/** What is not stored of a collection's defaults, as entries that were never written. */
export function defaultEntries(
  { group, resource }: { group: string; resource: string },
  cluster: string,
  namespace: string,
): Entry[] {
  const kind = defaultKind(group, resource);
  if (kind === undefined) return [];
  return defaultObjects(kind)
    .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
    .map((object) => entryOf(kind, cluster, object));
}

/** The default of a name, for as long as a logical cluster has none of that kind as objects. */
export function defaultEntry(
  registry: Followed,
  { group, resource }: { group: string; resource: string },
  at: { cluster: string; namespace: string; name: string },
): Entry | undefined {
  const kind = defaultKind(group, resource);
  if (kind === undefined || isWritten(registry, at.cluster, kind)) return undefined;
  const found = defaultObjects(kind).find(
    ({ metadata: { name, namespace = '' } }) => name === at.name && namespace === at.namespace,
  );
  return found && entryOf(kind, at.cluster, found);
}

function entryOf(kind: DefaultKind, cluster: string, object: KubeObject): Entry {
  const { name = '', namespace = '' } = object.metadata;
  const key = objectKey(storedAs(kind), cluster, namespace, name);
  return { key, value: encodeStored(object), revision: 0, created: 0 };
}

/** Whether a request is about any of them: one by its name, or all of a namespace that has some. */
function concerns(
  resource: DefaultKind,
  { verb, namespace, name }: { verb: string; namespace: string; name: string },
): boolean {
  if (name === '' && verb === 'create') return false;
  return defaultObjects(resource).some(({ metadata }) => {
    const isThere = namespace === '' || namespace === metadata.namespace;
    return isThere && (name === '' || name === metadata.name);
  });
}

/** What is about to be created under a default's name is told that it is there. Throws StatusError 409 in a dry run. */
export function showNamesake(
  { registry, cluster, served, dryRun }: KindWrite,
  resource: DefaultKind,
  { metadata: { name = '', namespace = '' } }: KubeObject,
): Promise<void> | undefined {
  if (name === '' || !concerns(resource, { verb: 'get', namespace, name })) return undefined;
  if (!dryRun) return writeDefaults(registry, cluster, resource);
  if (isWritten(registry, cluster, resource)) return undefined;
  throw alreadyExists(served.info, name);
}

const underWay = new WeakMap<Followed['roles'], Map<string, Promise<void>>>();

/** Makes the defaults of a kind objects of the logical cluster, once; what is deleted later stays deleted. */
export function writeDefaults(
  registry: ObjectRegistry,
  cluster: string,
  resource: DefaultKind,
): Promise<void> | undefined {
  const { roles } = registry;
  if (isWritten(registry, cluster, resource)) return undefined;
  const key = noteKey(cluster, resource);
  const writing = underWay.get(roles) ?? new Map<string, Promise<void>>();
  underWay.set(roles, writing);
  let doing = writing.get(key);
  if (doing === undefined) {
    doing = write(registry, cluster, resource).finally(() => writing.delete(key));
    writing.set(key, doing);
  }
  return doing;
}

/** Whether it is the defaults themselves that are being written. */
export function isWriting(registry: ObjectRegistry, cluster: string, resource: DefaultKind): boolean {
  return underWay.get(registry.roles)?.has(noteKey(cluster, resource)) ?? false;
}

async function write(registry: ObjectRegistry, cluster: string, resource: DefaultKind): Promise<void> {
  const { store } = registry;
  const key = noteKey(cluster, resource);
  const there = await store.get(key);
  if (there !== undefined) return tellWritten(registry, resource, key, writtenNote, there.revision);
  const objects = defaultObjects(resource);
  // One first: a store that takes none is asked for no more.
  for (let i = 0, end = 1; i < objects.length; [i, end] = [end, end + atOnce]) {
    const some = objects.slice(i, end).map((object) => createDefault(registry, cluster, resource, object));
    // A logical cluster that goes is read as it is.
    if (!(await Promise.all(some)).every(Boolean)) return;
  }
  if (resource === 'clusterroles') await aggregateAll(registry, cluster);
  try {
    const { revision } = await store.create(key, Buffer.from(JSON.stringify(writtenNote)));
    tellWritten(registry, resource, key, writtenNote, revision);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'exists')) throw error;
  }
}

export const writtenNote: KubeObject = { kind: 'Written', apiVersion: bootstrapVersion, metadata: {} };

/** False where the logical cluster is going. */
export async function createDefault(
  registry: ObjectRegistry,
  cluster: string,
  resource: DefaultKind,
  object: KubeObject,
): Promise<boolean> {
  const { namespace } = object.metadata;
  const scope = {
    cluster,
    group: storedAs(resource).group,
    resource,
    ...(namespace !== undefined && { namespace }),
  };
  try {
    await registry.create(scope, deepCopy(object), { manager: managerOf(resource) });
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    // Somebody else wrote it, or the namespace is gone, which takes its roles with it.
    if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error;
  }
  return true;
}
