import type { Client } from '../../client/client.ts';
import { isClaimRef } from '../../cluster/claims.ts';
import type { OwnerReference } from '../../kube/object.ts';
import type { Retry } from '../controller.ts';
import type { WorkQueue } from '../queue.ts';
import { type Acting, deleteItem, dropFinalizer, dropOwners, readLive, unblockOwners } from './act.ts';
import { type Dependents, decide, type OwnerState } from './decide.ts';
import {
  foregroundFinalizer,
  type Graph,
  type Node,
  nodeOf,
  orphanFinalizer,
  waitsForDependents,
} from './graph.ts';
import type { Kinds } from './kinds.ts';
import type { Owners } from './owners.ts';
import { noteOrphaned } from './tombstone.ts';

export interface Parts {
  client: Client;
  kinds: Kinds;
  graph: Graph;
  owners: Owners;
  queue: WorkQueue;
}

/**
 * Acts on the object as the server has it now; the graph only says when to look, and who depends on it. Of an owner that
 * the graph does not know, because its kind is not watched yet or never, nobody would say when it goes: asked for again.
 */
export async function reconcileItem(
  parts: Parts,
  uid: string,
  signal: AbortSignal,
): Promise<Retry | undefined> {
  const { graph, owners } = parts;
  const acting = { ...parts, signal };
  const known = graph.get(uid);
  if (!known || known.reflected || (!known.deleting && owners.allPresent(known))) return;
  // There is nothing to do about it but to wait: read it would be each time that something else of its owner has gone.
  if (known.deleting && ![foregroundFinalizer, orphanFinalizer].some((one) => known.finalizers.includes(one)))
    return;
  const live = await readLive(acting, known);
  if (!live) return;
  const node = nodeOf(known.resource, live, known.cluster);
  if (node.reflected) return;
  const states = new Map<string, OwnerState>();
  if (!node.deleting) {
    for (const owner of node.owners) states.set(idOf(owner), await owners.stateOf(owner, node, signal));
  }
  const step = decide(node, dependentsOf(graph, uid), (owner) => states.get(idOf(owner)) ?? 'present');
  if (step.do === 'dropOwners') await dropOwners(acting, node, step.uids);
  if (step.do === 'dropFinalizer') await dropFinalizer(acting, node, foregroundFinalizer);
  if (step.do === 'orphanDependents') await orphan(acting, node);
  if (step.do === 'deleteDependents') {
    for (const dependent of graph.dependents(uid)) parts.queue.add(dependent.uid);
  }
  if (step.do === 'delete') {
    if (step.unblock) await unblock(acting, node);
    await deleteItem(acting, node, live, step);
  }
  // Whoever says of another logical cluster's uid that it is theirs does not see that end either.
  const isSeen = (owner?: Node) => owner !== undefined && owner.cluster === node.cluster;
  const unseen = !node.deleting && node.owners.some(({ uid: owner }) => !isSeen(graph.get(owner)));
  return step.do === 'nothing' && unseen ? { after: 'growing' } : undefined;
}

async function orphan(acting: Acting & Parts, node: Node): Promise<void> {
  for (const dependent of acting.graph.dependents(node.uid)) {
    // Who owns a claim is said in its logical cluster (controller/claims/); of all else that is reflected where it runs.
    if (dependent.reflected && !isClaimRef(dependent.resource)) continue;
    await dropOwners(acting, dependent, [node.uid]);
  }
  await noteOrphaned(acting.client, node, acting.signal);
  await dropFinalizer(acting, node, orphanFinalizer);
}

/** The write makes a new version: the deletion that follows must name that one, so it is left to the retry. */
async function unblock(acting: Acting, node: Node): Promise<void> {
  if (!node.owners.some((owner) => owner.blockOwnerDeletion)) return;
  await unblockOwners(acting, node);
}

function dependentsOf(graph: Graph, uid: string): Dependents {
  const all = graph.dependents(uid);
  // Nobody deletes what is reflected for an owner that a user gave it.
  const mayGo = (node: Node, owner: OwnerReference) => !node.reflected || owner.controller === true;
  const blocks = (node: Node) =>
    node.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion && mayGo(node, owner));
  return { any: all.length > 0, blocking: all.some(blocks), waiting: all.some(waitsForDependents) };
}

/** Two references with one uid but other coordinates are looked up apart. */
function idOf({ uid, apiVersion, kind, name }: OwnerReference): string {
  return [uid, apiVersion, kind, name].join('/');
}
