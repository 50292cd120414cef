import { deepCopy } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { bootstrapObjects, bootstrapVersion, type RbacResource } from '../../../kube/rbac/bootstrap.ts';
import { rbacGroup } from '../../../kube/rbac/rule.ts';
import { isStatusError } from '../../../kube/status.ts';
import { StoreError } from '../../../storage/store.ts';
import { noteKey, type Roles, rbacResource } from '../roles.ts';
import type { ObjectRegistry } from '../types.ts';
import { aggregateAll } from './aggregation.ts';

const atOnce = 32;

/** Until somebody looks for them, a logical cluster's default roles and bindings are no objects: docs/decisions/0027. */
export function showDefaultRoles(
  registry: ObjectRegistry,
  asked: { cluster: string; group: string; resource: string; verb: string; namespace: string; name: string },
): Promise<void> | undefined {
  const resource = rbacResource(asked.group, asked.resource);
  if (resource === undefined || asked.cluster === '*') return undefined;
  return concerns(resource, asked) ? writeDefaultRoles(registry, asked.cluster, resource) : undefined;
}

/** Whether a request is about any of them: one by its name, or all of a namespace that has some. */
function concerns(
  resource: RbacResource,
  { verb, namespace, name }: { verb: string; namespace: string; name: string },
): boolean {
  if (name === '' && verb === 'create') return false;
  return bootstrapObjects(resource).some(({ metadata }) => {
    const isThere = namespace === '' || namespace === metadata.namespace;
    return isThere && (name === '' || name === metadata.name);
  });
}

/** What is about to be created under a default's name is told that it is there. */
export function showNamesake(
  registry: ObjectRegistry,
  cluster: string,
  resource: RbacResource,
  { metadata: { name = '', namespace = '' } }: KubeObject,
): Promise<void> | undefined {
  return concerns(resource, { verb: 'get', namespace, name })
    ? writeDefaultRoles(registry, cluster, resource)
    : undefined;
}

const underWay = new WeakMap<Roles, Map<string, Promise<void>>>();

/** Makes the defaults of a kind objects of the logical cluster, once; what is deleted later stays deleted. */
export function writeDefaultRoles(
  registry: ObjectRegistry,
  cluster: string,
  resource: RbacResource,
): Promise<void> | undefined {
  const { roles } = registry;
  if (roles.index.isWritten(cluster, resource)) return undefined;
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
export function isWriting(registry: ObjectRegistry, cluster: string, resource: RbacResource): boolean {
  return underWay.get(registry.roles)?.has(noteKey(cluster, resource)) ?? false;
}

async function write(registry: ObjectRegistry, cluster: string, resource: RbacResource): Promise<void> {
  const { store, roles } = registry;
  const key = noteKey(cluster, resource);
  const there = await store.get(key);
  if (there !== undefined) return roles.wrote(key, note, there.revision);
  const objects = bootstrapObjects(resource);
  for (let i = 0; i < objects.length; i += atOnce) {
    const some = objects.slice(i, i + atOnce).map((object) => create(registry, cluster, resource, object));
    // A logical cluster that goes is read as it is.
    if (!(await Promise.all(some)).every(Boolean)) return;
  }
  if (resource === 'clusterroles') await aggregateAll(registry, cluster);
  try {
    const { revision } = await store.create(key, Buffer.from(JSON.stringify(note)));
    roles.wrote(key, note, revision);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'exists')) throw error;
  }
}

const note: KubeObject = { kind: 'Written', apiVersion: bootstrapVersion, metadata: {} };

async function create(
  registry: ObjectRegistry,
  cluster: string,
  resource: RbacResource,
  object: KubeObject,
): Promise<boolean> {
  const { namespace } = object.metadata;
  const scope = { cluster, group: rbacGroup, resource, ...(namespace !== undefined && { namespace }) };
  try {
    await registry.create(scope, deepCopy(object), { manager: 'kube-apiserver' });
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    // Somebody else wrote it, or the namespace is gone, which takes its roles with it.
    if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error;
  }
  return true;
}
