import { childPath, pathAnnotation } from '../../cluster/logical.ts';
import { logicalClusterFinalizer as finalizer } from '../../cluster/names.ts';
import { apiVersionOf, type LogicalCluster, type Workspace } from './types.ts';

/** What brings one Workspace a step further. `cluster` is its logical cluster's id. */
export type WorkspaceStep =
  | { do: 'nothing' }
  /** Claims the finalizer, so that the logical cluster is removed before its Workspace, and says its id for good. */
  | { do: 'claim'; cluster: string }
  | { do: 'create-logical-cluster'; cluster: string; object: LogicalCluster }
  /** One that was made without its finalizer gets it: until it is empty it must not go. */
  | { do: 'hold'; cluster: string }
  | { do: 'make-ready'; cluster: string; path: string }
  /** From then on nothing is made in it. */
  | { do: 'end-logical-cluster'; cluster: string }
  | { do: 'empty'; cluster: string }
  | { do: 'release' };

export interface Parent {
  cluster: string;
  path: string;
}

/**
 * Scheduling -> Initializing -> Ready, and the way back when the Workspace is deleted. Names, fields and phases
 * are kcp's. `newId` is taken for one that has none.
 */
export function decideWorkspace(
  parent: Parent,
  workspace: Workspace,
  inside: LogicalCluster | undefined,
  newId: string,
): WorkspaceStep {
  const { name = '' } = workspace.metadata;
  const path = childPath(parent.path, name);
  const cluster = workspace.spec?.cluster;
  const claimed = holds(workspace);
  if (workspace.metadata.deletionTimestamp) {
    if (!claimed) return { do: 'nothing' };
    if (cluster === undefined || inside === undefined || isOthers(inside, workspace))
      return { do: 'release' };
    if (inside.metadata.deletionTimestamp) return { do: 'empty', cluster };
    return { do: holds(inside) ? 'end-logical-cluster' : 'hold', cluster };
  }
  if (!claimed || cluster === undefined) return { do: 'claim', cluster: cluster ?? newId };
  if (!inside) {
    return { do: 'create-logical-cluster', cluster, object: logicalCluster(parent, workspace, path) };
  }
  if (inside.metadata.deletionTimestamp || isOthers(inside, workspace)) return { do: 'nothing' };
  if (!holds(inside)) return { do: 'hold', cluster };
  const ready = workspace.status?.phase === 'Ready' && workspace.spec?.URL !== undefined;
  return ready ? { do: 'nothing' } : { do: 'make-ready', cluster, path };
}

/** Made for another Workspace: whatever this one says, it is neither this one's to give away nor to end. */
function isOthers({ spec }: LogicalCluster, { metadata }: Workspace): boolean {
  const owner = spec?.owner?.['uid'];
  return owner !== undefined && owner !== metadata.uid;
}

function holds({ metadata }: Workspace | LogicalCluster): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

function logicalCluster(parent: Parent, workspace: Workspace, path: string): LogicalCluster {
  const { name = '', uid = '' } = workspace.metadata;
  const { cluster } = parent;
  const owner = { apiVersion: apiVersionOf.workspace, resource: 'workspaces', name, cluster, uid };
  return {
    apiVersion: apiVersionOf.logicalCluster,
    kind: 'LogicalCluster',
    metadata: { name: 'cluster', annotations: { [pathAnnotation]: path }, finalizers: [finalizer] },
    spec: { owner },
  };
}
