import { bootstrapObjects, bootstrapVersion, type RbacResource } from '../../../kube/rbac/bootstrap.ts';
import { reconciled } from '../../../kube/rbac/reconcile.ts';
import { StoreError } from '../../../storage/store.ts';
import { decodeStored } from '../codec.ts';
import { rewriteObject } from '../rewrite.ts';
import { notesRange, rbacKinds, readNoteKey } from '../roles.ts';
import type { ObjectRegistry } from '../types.ts';
import { aggregateAll } from './aggregation.ts';
import { createDefault, writtenNote } from './default-objects.ts';

/**
 * Gives the logical clusters whose default roles and bindings an earlier version wrote what this version's have besides,
 * and those that are not there; how many kinds of theirs. As kube-apiserver at each start, but only once for each
 * version: in between, what is deleted stays deleted. May be killed at any moment, and done by several servers at once.
 */
export async function renewDefaultRoles(registry: ObjectRegistry): Promise<number> {
  const { store } = registry;
  let renewed = 0;
  for (const entry of (await store.list(notesRange)).entries) {
    const { cluster, resource } = readNoteKey(entry.key);
    if (resource === undefined || !isEarlier(decodeStored(entry).apiVersion, bootstrapVersion)) continue;
    if (!(await renew(registry, cluster, resource))) continue;
    renewed++;
    try {
      await store.update(entry.key, Buffer.from(JSON.stringify(writtenNote)), entry.revision);
    } catch (error) {
      // Another server was first, or the logical cluster went.
      if (!(error instanceof StoreError && ['conflict', 'missing'].includes(error.code))) throw error;
    }
  }
  return renewed;
}

/** False: the logical cluster is going. */
async function renew(registry: ObjectRegistry, cluster: string, resource: RbacResource): Promise<boolean> {
  for (const want of bootstrapObjects(resource)) {
    const { name = '', namespace = '' } = want.metadata;
    const address = { resource: rbacKinds[resource], cluster, namespace, name };
    const there = await rewriteObject(registry.store, address, (have) => have && reconciled(have, want));
    if (there === undefined && !(await createDefault(registry, cluster, resource, want))) return false;
  }
  if (resource === 'clusterroles') await aggregateAll(registry, cluster);
  return true;
}

function isEarlier(a: string | undefined, b: string): boolean {
  const [one, other] = [a ?? '', b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (one?.[i] ?? 0) - (other?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
