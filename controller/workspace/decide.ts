import { apiVersionOf, childCluster, type LogicalCluster, type Workspace } from './types.ts';

/** What brings one Workspace a step further. */
export type WorkspaceStep =
  | { do: 'nothing' }
  /** Claims the finalizer, so that the logical cluster is removed before its Workspace. */
  | { do: 'claim' }
  | { do: 'create-logical-cluster'; cluster: string; object: LogicalCluster }
  | { do: 'make-ready'; cluster: string }
  | { do: 'remove-logical-cluster'; cluster: string }
  | { do: 'release' };

export const workspaceFinalizer = 'core.kcp.io/logicalcluster';

/**
 * Scheduling -> Initializing -> Ready, and the way back when the Workspace is deleted. Names, fields and phases
 * are kcp's.
 */
export function decideWorkspace(
  parent: string,
  workspace: Workspace,
  inside: LogicalCluster | undefined,
): WorkspaceStep {
  const cluster = childCluster(parent, workspace);
  const claimed = workspace.metadata.finalizers?.includes(workspaceFinalizer) ?? false;
  if (workspace.metadata.deletionTimestamp) {
    if (!claimed) return { do: 'nothing' };
    return inside ? { do: 'remove-logical-cluster', cluster } : { do: 'release' };
  }
  if (!claimed) return { do: 'claim' };
  if (!inside) return { do: 'create-logical-cluster', cluster, object: logicalCluster(parent, workspace) };
  if (workspace.status?.phase !== 'Ready' || workspace.spec?.cluster !== cluster)
    return { do: 'make-ready', cluster };
  return { do: 'nothing' };
}

function logicalCluster(parent: string, workspace: Workspace): LogicalCluster {
  const { name = '', uid = '' } = workspace.metadata;
  const owner = { apiVersion: apiVersionOf.workspace, resource: 'workspaces', name, cluster: parent, uid };
  return {
    apiVersion: apiVersionOf.logicalCluster,
    kind: 'LogicalCluster',
    metadata: { name: 'cluster', annotations: { 'kcp.io/path': childCluster(parent, workspace) } },
    spec: { owner },
  };
}
