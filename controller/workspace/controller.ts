import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { objectKey, parseKey } from '../../client/url.ts';
import { newLogicalClusterId, pathOfLogicalCluster } from '../../cluster/logical.ts';
import {
  logicalClusterFinalizer as finalizer,
  logicalClusters,
  rootCluster,
  workspaces,
} from '../../cluster/names.ts';
import { ownerOf } from '../../cluster/owner.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { type Retry, runController } from '../controller.ts';
import type { Remains } from '../namespace/decide.ts';
import { ensureSystemNamespaces } from '../namespace/furnish.ts';
import { WorkQueue } from '../queue.ts';
import { decideWorkspace, type WorkspaceStep } from './decide.ts';
import { emptyLogicalCluster, isNothing } from './empty.ts';
import { ensureOwner } from './owner.ts';
import { tellEnd } from './remains.ts';
import type { LogicalCluster, Workspace } from './types.ts';

/** Until the next look at a logical cluster that is being emptied. Grows with the time that has passed already. */
const lookAgainMs = 300;
const laterLookMs = 5_000;
/** Those that are empty sooner are not written to. */
const tellAfterMs = 2_000;

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
  // Each makes or empties a logical cluster of its own.
  const queue = new WorkQueue({ fair: { partyOf: (key) => key, most: 1 } });
  const cache = informers.for<Workspace>(workspaces);
  const asked = new Map<string, number>();
  const add = (workspace: Workspace) => queue.add(objectKey(workspace));
  cache.on({ add, update: (workspace) => add(workspace), delete: () => {} });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const workspace = cache.get(key);
    if (!workspace) return undefined;
    const { cluster, name } = parseKey(key);
    const parent = { cluster, path: await pathOf(client, cluster) };
    const inside = await insideOf(client, workspace.spec?.cluster);
    const step = decideWorkspace(parent, workspace, inside, newLogicalClusterId());
    return await take({ ...options, asked }, step, { cluster, name }, { workspace, inside });
  };
  return runController({ name: 'workspace', queue, reconcile, signal, logger, ready: [cache.synced] });
}

async function insideOf(client: Client, cluster: string | undefined): Promise<LogicalCluster | undefined> {
  if (cluster === undefined) return undefined;
  try {
    return await client.get<LogicalCluster>(logicalClusters, { cluster, name: 'cluster' });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function pathOf(client: Client, cluster: string): Promise<string> {
  if (cluster === rootCluster) return cluster;
  return pathOfLogicalCluster(cluster, (await insideOf(client, cluster))?.metadata.annotations);
}

async function take(
  options: WorkspaceControllerOptions & { asked: Map<string, number> },
  step: WorkspaceStep,
  target: { cluster: string; name: string },
  seen: { workspace: Workspace; inside: LogicalCluster | undefined },
): Promise<Retry | undefined> {
  const { client, signal, asked } = options;
  const { resourceVersion } = seen.workspace.metadata;
  switch (step.do) {
    case 'nothing':
      return undefined;
    case 'claim': {
      const metadata = { finalizers: withOurs(seen.workspace), resourceVersion };
      await client.patch(workspaces, target, 'merge', { metadata, spec: { cluster: step.cluster } });
      return undefined;
    }
    case 'create-logical-cluster':
      await client.create(logicalClusters, step.object, { cluster: step.cluster });
      return { after: 0 };
    case 'hold':
      await patchInside(client, step.cluster, seen.inside, withOurs(seen.inside));
      return { after: 0 };
    case 'make-ready':
      await makeReady(options, target, step, firstOwner(seen));
      return undefined;
    case 'end-logical-cluster':
      await client.delete(logicalClusters, { cluster: step.cluster, name: 'cluster' });
      await tellEnd(client, target, seen.workspace);
      return { after: 0 };
    case 'empty': {
      const isAsked = Date.now() - (asked.get(step.cluster) ?? 0) < laterLookMs;
      const remains = await emptyLogicalCluster(client, step.cluster, signal, isAsked);
      if (!isAsked) asked.set(step.cluster, Date.now());
      if (!remains) return { after: lookAgainMs };
      if (!isNothing(remains)) return await lookAgain(client, target, seen.workspace, remains);
      asked.delete(step.cluster);
      await patchInside(client, step.cluster, seen.inside, withoutOurs(seen.inside));
      return { after: 0 };
    }
    case 'release': {
      const metadata = { finalizers: withoutOurs(seen.workspace), resourceVersion };
      await client.patch(workspaces, target, 'merge', { metadata });
      return undefined;
    }
  }
}

/** One that waits for somebody's finalizer is looked at less and less often: each look reads all that it may hold. */
async function lookAgain(
  client: Client,
  target: { cluster: string; name: string },
  workspace: Workspace,
  remains: Remains,
): Promise<Retry> {
  const waiting = Date.now() - Date.parse(workspace.metadata.deletionTimestamp ?? '');
  if (waiting >= tellAfterMs) await tellEnd(client, target, workspace, remains);
  return { after: Math.min(laterLookMs, Math.max(lookAgainMs, waiting / 10)) };
}

/** Of one that is becoming Ready for the first time, whatever phase somebody wrote into its Workspace. */
function firstOwner({ workspace, inside }: { workspace: Workspace; inside: LogicalCluster | undefined }) {
  return inside?.status?.phase === 'Ready' ? undefined : ownerOf(workspace);
}

function withOurs(object: KubeObject | undefined): string[] {
  return [...withoutOurs(object), finalizer];
}

function withoutOurs(object: KubeObject | undefined): string[] {
  return (object?.metadata.finalizers ?? []).filter((other) => other !== finalizer);
}

async function patchInside(
  client: Client,
  cluster: string,
  seen: LogicalCluster | undefined,
  finalizers: string[],
): Promise<void> {
  const { resourceVersion } = seen?.metadata ?? {};
  const body = { metadata: { finalizers, resourceVersion } };
  await client.patch(logicalClusters, { cluster, name: 'cluster' }, 'merge', body);
}

/** Its URL is by path, which people know; the LogicalCluster's by id, which stays. */
async function makeReady(
  options: WorkspaceControllerOptions,
  target: { cluster: string; name: string },
  { cluster, path }: { cluster: string; path: string },
  owner: string | undefined,
): Promise<void> {
  const { client } = options;
  await ensureSystemNamespaces(client, cluster, options.signal);
  if (owner !== undefined) await ensureOwner(client, cluster, owner);
  const URL = (place: string) => `${options.url()}/clusters/${place}`;
  const inside = { cluster, name: 'cluster', subresource: 'status' };
  await client.patch(logicalClusters, inside, 'merge', { status: { phase: 'Ready', URL: URL(cluster) } });
  await client.patch(workspaces, target, 'merge', { spec: { URL: URL(path) } });
  await client.patch(workspaces, { ...target, subresource: 'status' }, 'merge', {
    status: { phase: 'Ready' },
  });
}
