import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import type { Condition, PhysicalCluster, PhysicalClusterStatus } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { addQuantity, formatQuantity, parseQuantity, type Quantity } from '../kube/quantity.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' };
const physicalClusters = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };

export interface HeartbeatOptions {
  name: string;
  upstream: Client;
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  intervalMs: number;
}

/** Says every `intervalMs` that the syncer lives, and whether the physical API answers it. */
export async function runHeartbeat(options: HeartbeatOptions): Promise<void> {
  const { client, signal, logger, intervalMs } = options;
  const informer = startInformer(client, nodes, { signal, logger, transform: slimNode });
  while (!signal.aborted) {
    try {
      await beat(options, informer);
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'heartbeat failed');
    }
    await sleep(intervalMs, signal);
  }
}

async function beat(options: HeartbeatOptions, informer: Informer): Promise<void> {
  const { name, upstream, client, signal, intervalMs } = options;
  const before = await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal);
  const found = await probe(client, signal, Math.max(1_000, intervalMs));
  const now = new Date().toISOString();
  const status: PhysicalClusterStatus = {
    conditions: [readyCondition(before.status?.conditions, found.error, now)],
    lastHeartbeatTime: now,
    ...(found.version && { version: found.version }),
    ...(informer.hasSynced && { allocatable: allocatable(informer.values()) }),
  };
  await upstream.patch(physicalClusters, { name, subresource: 'status' }, 'merge', { status }, { signal });
}

/** Whether the API server answers, and which version it is. */
async function probe(
  client: Client,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<{ version?: string; error?: string }> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const { gitVersion } = (await client.json('/version', { signal: within })) as { gitVersion?: unknown };
    return typeof gitVersion === 'string' ? { version: gitVersion } : {};
  } catch (error) {
    signal.throwIfAborted();
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function readyCondition(before: Condition[] | undefined, error: string | undefined, now: string): Condition {
  const status = error === undefined ? 'True' : 'False';
  const old = before?.find((condition) => condition.type === 'Ready');
  return {
    type: 'Ready',
    status,
    reason: error === undefined ? 'SyncerConnected' : 'Unreachable',
    message: error ?? 'the cluster answers',
    lastTransitionTime: old?.status === status ? old.lastTransitionTime : now,
  };
}

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: { allocatable?: Record<string, string> };
}

/** Sums over the nodes that take pods. */
export function allocatable(all: Iterable<KubeObject>): Record<string, string> {
  const sums = new Map<string, Quantity>();
  for (const node of all as Iterable<Node>) {
    if (node.spec?.unschedulable) continue;
    for (const [resource, amount] of Object.entries(node.status?.allocatable ?? {})) {
      const more = quantity(amount);
      const sum = sums.get(resource);
      if (more) sums.set(resource, sum ? addQuantity(sum, more) : more);
    }
  }
  return Object.fromEntries([...sums].map(([resource, sum]) => [resource, formatQuantity(sum)]));
}

function quantity(text: unknown): Quantity | undefined {
  try {
    return typeof text === 'string' ? parseQuantity(text) : undefined;
  } catch {
    return undefined;
  }
}

function slimNode(node: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = node.metadata;
  const { spec, status } = node as Node;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...(name && { name }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    spec: { unschedulable: spec?.unschedulable === true },
    status: { allocatable: status?.allocatable ?? {} },
  };
}
