import type { Client } from '../../client/client.ts';
import { isStatusError } from '../../kube/status.ts';

const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' };

/** The first binding of a logical cluster, named as kcp's. Until it is Ready only: later it is theirs to change. */
export async function ensureOwner(client: Client, cluster: string, user: string): Promise<void> {
  const apiGroup = bindings.group;
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'workspace-admin' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  };
  try {
    await client.create(bindings, binding, { cluster });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}
