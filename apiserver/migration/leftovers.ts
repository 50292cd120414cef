import { isPath, pathAnnotation } from '../../cluster/logical.ts';
import { logicalClusterFinalizer, rootCluster, workspaces } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { randomUid } from '../../kube/uuid.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { objectKey } from '../registry/keys.ts';
import { foundation } from '../registry/logical-clusters.ts';
import { createOnce } from './pages.ts';

const stored = { ...workspaces, namespaced: false };

/**
 * In the former format a deleted Workspace left things behind: what nobody reaches, and what the next of its name would
 * have found. Its deletion is taken up again, so that the controllers bring it to its end.
 */
export async function endWhatWasLeft(store: Store, ids: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, id] of ids) {
    const there = (await store.get(foundation(path))) ?? (await store.get(foundation(id)));
    const above = parentOf(path);
    if (there !== undefined || above === undefined) continue;
    const { parent, name } = above;
    const at = (cluster: string) => objectKey(stored, cluster, '', name);
    const parentId = ids.get(parent) ?? parent;
    const entry = (await store.get(at(parent))) ?? (await store.get(at(parentId)));
    if (entry !== undefined && decodeStored(entry).metadata.deletionTimestamp === undefined) continue;
    const uid = (entry && decodeStored(entry).metadata.uid) ?? randomUid();
    // In this order: a Workspace that is going and has no LogicalCluster is looked at again.
    if (entry === undefined) await createOnce(store, at(parentId), endingWorkspace(name, uid, id));
    await createOnce(store, foundation(id), endingCluster(path, { parentId, name, uid }));
  }
}

/** Undefined for what no Workspace of root's tree can be. */
function parentOf(path: string): { parent: string; name: string } | undefined {
  const at = path.lastIndexOf(':');
  const parent = path.slice(0, at);
  return parent === rootCluster || isPath(parent) ? { parent, name: path.slice(at + 1) } : undefined;
}

function endingCluster(path: string, of: { parentId: string; name: string; uid: string }): KubeObject {
  const apiVersion = 'tenancy.kcp.io/v1alpha1';
  const owner = { apiVersion, resource: 'workspaces', name: of.name, cluster: of.parentId, uid: of.uid };
  return {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: { ...ending('cluster', randomUid()), annotations: { [pathAnnotation]: path } },
    spec: { owner },
  };
}

function endingWorkspace(name: string, uid: string, cluster: string): KubeObject {
  return {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: ending(name, uid),
    spec: { cluster },
  };
}

function ending(name: string, uid: string): KubeObject['metadata'] {
  const now = timestamp(Date.now());
  return {
    name,
    uid,
    creationTimestamp: now,
    deletionTimestamp: now,
    deletionGracePeriodSeconds: 0,
    finalizers: [logicalClusterFinalizer],
  };
}
