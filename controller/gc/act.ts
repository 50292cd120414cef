import type { Client } from '../../client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import type { Step } from './decide.ts';
import type { Node } from './graph.ts';

/** The object now; undefined when it is gone or another one has its name. */
export async function readLive(
  client: Client,
  node: Node,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    const live = await client.get(node.resource, targetOf(node), signal);
    return live.metadata.uid === node.uid ? live : undefined;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Only if it is still the very version that was judged: ownerReferences may have been added since. */
export async function deleteItem(
  client: Client,
  node: Node,
  live: KubeObject,
  step: Extract<Step, { do: 'delete' }>,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  try {
    await client.delete(
      node.resource,
      targetOf(node),
      { propagationPolicy: step.policy, preconditions },
      signal,
    );
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

export async function dropOwners(
  client: Client,
  node: Node,
  uids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await change(client, node, signal, (live) => {
    const owners = live.metadata.ownerReferences ?? [];
    return { ownerReferences: owners.filter(({ uid }) => !uids.includes(uid)) };
  });
}

export async function dropFinalizer(
  client: Client,
  node: Node,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  await change(client, node, signal, (live) => ({
    finalizers: (live.metadata.finalizers ?? []).filter((name) => name !== finalizer),
  }));
}

/** The item holds up none of its owners any more: breaks circles of objects that wait for each other. */
export async function unblockOwners(client: Client, node: Node, signal: AbortSignal): Promise<void> {
  await change(client, node, signal, (live) => ({
    ownerReferences: (live.metadata.ownerReferences ?? []).map((owner) =>
      owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
    ),
  }));
}

async function change(
  client: Client,
  node: Node,
  signal: AbortSignal,
  edit: (live: KubeObject) => Partial<KubeObject['metadata']>,
): Promise<void> {
  const live = await readLive(client, node, signal);
  if (!live) return;
  const wanted = { ...live, metadata: { ...live.metadata, ...edit(live) } };
  try {
    await commit(client, node.resource, live, wanted, { cluster: node.cluster, signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

function targetOf(node: Node): { cluster: string | undefined; namespace: string; name: string } {
  const { cluster, namespace, name } = node;
  return { cluster, namespace, name };
}
