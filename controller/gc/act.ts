import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import type { ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';
import { commit } from '../commit.ts';
import type { Step } from './decide.ts';
import type { Node } from './graph.ts';
import type { Kinds } from './kinds.ts';

export interface Acting {
  client: Client;
  kinds: Kinds;
  signal: AbortSignal;
}

/** The object now; undefined when it is gone or another one has its name. Fails where its kind is not served (now). */
export async function readLive(acting: Acting, node: Node): Promise<KubeObject | undefined> {
  try {
    const live = await acting.client.get(resourceOf(acting, node), targetOf(node), acting.signal);
    return live.metadata.uid === node.uid ? live : undefined;
  } catch (error) {
    if (isMissing(error, node.name)) return undefined;
    throw error;
  }
}

/** Only if it is still the very version that was judged: ownerReferences may have been added since. */
export async function deleteItem(
  acting: Acting,
  node: Node,
  live: KubeObject,
  step: Extract<Step, { do: 'delete' }>,
): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const how = { propagationPolicy: step.policy, preconditions };
  try {
    await acting.client.delete(resourceOf(acting, node), targetOf(node), how, acting.signal);
  } catch (error) {
    if (!isMissing(error, node.name)) throw error;
  }
}

export async function dropOwners(acting: Acting, node: Node, uids: readonly string[]): Promise<void> {
  await change(acting, node, (live) => {
    const owners = live.metadata.ownerReferences ?? [];
    return { ownerReferences: owners.filter(({ uid }) => !uids.includes(uid)) };
  });
}

export async function dropFinalizer(acting: Acting, node: Node, finalizer: string): Promise<void> {
  await change(acting, node, (live) => ({
    finalizers: (live.metadata.finalizers ?? []).filter((name) => name !== finalizer),
  }));
}

/** The item holds up none of its owners any more: breaks circles of objects that wait for each other. */
export async function unblockOwners(acting: Acting, node: Node): Promise<void> {
  await change(acting, node, (live) => ({
    ownerReferences: (live.metadata.ownerReferences ?? []).map((owner) =>
      owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
    ),
  }));
}

async function change(
  acting: Acting,
  node: Node,
  edit: (live: KubeObject) => Partial<KubeObject['metadata']>,
): Promise<void> {
  const { client, signal } = acting;
  const live = await readLive(acting, node);
  if (!live) return;
  const wanted = { ...live, metadata: { ...live.metadata, ...edit(live) } };
  try {
    await commit(client, resourceOf(acting, node), live, wanted, { cluster: node.cluster, signal });
  } catch (error) {
    if (!isMissing(error, node.name)) throw error;
  }
}

/** As its own logical cluster serves it, which is not always how it was listed. */
function resourceOf({ kinds }: Acting, { cluster, resource }: Node): ResourceRef {
  return kinds.ofResource(cluster, resource);
}

function targetOf(node: Node): { cluster: string | undefined; namespace: string; name: string } {
  const { cluster, namespace, name } = node;
  return { cluster, namespace, name };
}
