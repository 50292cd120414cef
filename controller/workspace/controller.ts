import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import { isStatusError } from '../../kube/status.ts';
import { runController } from '../controller.ts';
import { emptyNamespace } from '../namespace/empty.ts';
import { ensureSystemNamespaces, namespaces } from '../namespace/furnish.ts';
import { WorkQueue } from '../queue.ts';
import { decideWorkspace, workspaceFinalizer } from './decide.ts';
import { type LogicalCluster, logicalClusters, type Workspace, workspaces } from './types.ts';

export interface WorkspaceControllerOptions {
  /** Reads and writes in every logical cluster. */
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** The server's address, for spec.URL. */
  url: () => string;
}

/** Makes and removes the logical cluster of each Workspace. Resolves when stopped. */
export function runWorkspaceController(options: WorkspaceControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue();
  const cache = informers.for<Workspace>(workspaces);
  const add = (workspace: Workspace) => queue.add(objectKey(workspace));
  cache.on({ add, update: (workspace) => add(workspace), delete: () => {} });
  const reconcile = async (key: string) => {
    const workspace = cache.get(key);
    if (!workspace) return;
    const parent = logicalClusterOf(workspace);
    const name = workspace.metadata.name ?? '';
    const inside = await client
      .get<LogicalCluster>(logicalClusters, { cluster: `${parent}:${name}`, name: 'cluster' })
      .catch((error: unknown) => {
        if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
        throw error;
      });
    const step = decideWorkspace(parent, workspace, inside);
    const target = { cluster: parent, name };
    if (step.do === 'claim') {
      const finalizers = [...(workspace.metadata.finalizers ?? []), workspaceFinalizer];
      const { resourceVersion } = workspace.metadata;
      await client.patch(workspaces, target, 'merge', { metadata: { finalizers, resourceVersion } });
    } else if (step.do === 'create-logical-cluster') {
      await client.create(logicalClusters, step.object, { cluster: step.cluster });
      return { after: 0 };
    } else if (step.do === 'make-ready') {
      await makeReady(options, parent, name, step.cluster);
    } else if (step.do === 'remove-logical-cluster') {
      return await empty(client, step.cluster, signal);
    } else if (step.do === 'release') {
      const finalizers = (workspace.metadata.finalizers ?? []).filter(
        (other) => other !== workspaceFinalizer,
      );
      await client.patch(workspaces, target, 'merge', { metadata: { finalizers } });
    }
    return;
  };
  return runController({ name: 'workspace', queue, reconcile, signal, logger, ready: [cache.synced] });
}

async function makeReady(
  options: WorkspaceControllerOptions,
  parent: string,
  name: string,
  cluster: string,
): Promise<void> {
  const { client } = options;
  await ensureSystemNamespaces(client, cluster, options.signal);
  const URL = `${options.url()}/clusters/${cluster}`;
  const inside = { cluster, name: 'cluster', subresource: 'status' };
  await client.patch(logicalClusters, inside, 'merge', { status: { phase: 'Ready', URL } });
  await client.patch(workspaces, { cluster: parent, name }, 'merge', { spec: { cluster, URL } });
  const target = { cluster: parent, name, subresource: 'status' };
  await client.patch(workspaces, target, 'merge', { status: { phase: 'Ready' } });
}

/**
 * Deletes its namespaces first, so that what they hold leaves the physical clusters; then itself. The namespaces
 * that nobody may delete are emptied of all but what the namespace controller puts back.
 */
async function empty(
  client: Client,
  cluster: string,
  signal: AbortSignal,
): Promise<{ after: number } | undefined> {
  const { items } = await client.list(namespaces, { cluster });
  let left = 0;
  for (const { metadata } of items) {
    const name = metadata.name ?? '';
    if (!undeletable.has(name)) {
      left++;
      if (!metadata.deletionTimestamp) await client.delete(namespaces, { cluster, name }).catch(ignoreGone);
      continue;
    }
    const { counts } = await emptyNamespace(client, { cluster, namespace: name, signal });
    left += Object.keys(counts).filter((resource) => !furnished.has(resource)).length;
  }
  if (left > 0) return { after: 300 };
  await client.delete(logicalClusters, { cluster, name: 'cluster' });
  return { after: 0 };
}

const undeletable = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);
const furnished = new Set(['serviceaccounts', 'configmaps']);

function ignoreGone(error: unknown): void {
  if (!isStatusError(error, 'NotFound')) throw error;
}
