import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, type Discovery, discover } from '../../client/discovery.ts';
import { isMissing, isTransportError } from '../../client/errors.ts';
import { placedKind } from '../../cluster/kinds.ts';
import { othersHeader, placements } from '../../cluster/names.ts';
import { isReflected } from '../../cluster/reflected.ts';
import type { PlacementSpec } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError, StatusError } from '../../kube/status.ts';
import type { Remains } from './decide.ts';

export interface Where {
  cluster: string | undefined;
  namespace: string;
  signal: AbortSignal;
}

/**
 * One pass over all that a terminating namespace holds: asks for the deletion of everything, and tells what was
 * there when it came by. Only a pass that finds nothing proves the namespace empty. What is served is asked
 * anew each time: a kind that nobody knew a minute ago may have objects here.
 *
 * Pods go first, and what makes them, and nothing else while a pod is there or nobody knows, so that none outlives what
 * it relies on, a NetworkPolicy say. Those of workloads that run on physical clusters end with their workloads, which
 * take along what they need.
 */
export async function emptyNamespace(
  client: Client,
  where: Where,
  look: Look = lookInto(client, where),
): Promise<Remains> {
  const { resources, failed } = await look.discovery();
  const tally: Tally = {
    counts: {},
    finalizers: {},
    failures: [],
    unknown: failed.map(({ group, version }) => `${group}/${version}`),
    silent: new Set(),
  };
  const all = resources.filter(canBeEmptied);
  const first = all.filter(runs);
  let wait = false;
  for (const resource of first) {
    const left = await count(tally, client, resource, where, look);
    if (!left || (isPods(resource) && left.some((pod) => !isReflected(pod)))) wait = true;
  }
  if (wait) return tally;
  for (const resource of all)
    if (!first.includes(resource)) await count(tally, client, resource, where, look);
  return tally;
}

interface Tally extends Remains {
  counts: Record<string, number>;
  finalizers: Record<string, number>;
  failures: string[];
  /** Group versions that gave no answer. They are asked no more in this pass, whose other resources would each wait as long. */
  silent: Set<string>;
}

/** Answers what is left; undefined: that cannot be told. */
async function count(
  tally: Tally,
  client: Client,
  resource: DiscoveredResource,
  where: Where,
  look: Look,
): Promise<readonly KubeObject[] | undefined> {
  const served = `${resource.group}/${resource.version}`;
  if (tally.silent.has(served)) return undefined;
  try {
    const left = await look.list(resource, where.namespace).catch((error: unknown) => {
      if (isSilence(error)) tally.silent.add(served);
      throw error;
    });
    await deleteAll(client, resource, left, where);
    if (left.length > 0) tally.counts[groupResource(resource)] = left.length;
    for (const name of left.flatMap(({ metadata }) => metadata.finalizers ?? []))
      tally.finalizers[name] = (tally.finalizers[name] ?? 0) + 1;
    return left;
  } catch (error) {
    where.signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    tally.failures.push(`${groupResource(resource)}: ${message}`);
    return undefined;
  }
}

/** Of the server, and not of one of its resources alone, whose conversion fails perhaps. */
function isSilence(error: unknown): boolean {
  return (
    isTransportError(error) || (error instanceof StatusError && (error.code === 503 || error.code === 504))
  );
}

function isControlled({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ controller }) => controller === true);
}

function isPods({ group, resource }: DiscoveredResource): boolean {
  return group === '' && resource === 'pods';
}

function runs(resource: DiscoveredResource): boolean {
  return isPods(resource) || placedKind(resource)?.role === 'workload';
}

/** Of Placements discovery names no verb by which they go, as nobody else deletes them. */
function canBeEmptied(resource: DiscoveredResource): boolean {
  const { namespaced, verbs } = resource;
  return namespaced && verbs.includes('list') && (verbs.includes('delete') || isPlacements(resource));
}

function isPlacements({ group, resource }: DiscoveredResource): boolean {
  return group === placements.group && resource === placements.resource;
}

async function deleteAll(
  client: Client,
  resource: DiscoveredResource,
  list: readonly KubeObject[],
  where: Where,
): Promise<void> {
  const { cluster, namespace, signal } = where;
  // The record of a physical pod goes when the pod does; other reflections may go at once, and are not made again.
  const pods = isPods(resource);
  const ours = list.filter((object) => !(pods && isReflected(object) && isControlled(object)));
  const todo = ours.filter((object) => !object.metadata.deletionTimestamp && !isInUse(resource, object));
  for (const { metadata } of todo) {
    const target = { cluster, namespace, name: metadata.name ?? '' };
    const preconditions = metadata.uid ? { uid: metadata.uid } : {};
    try {
      await client.delete(resource, target, { propagationPolicy: 'Background', preconditions }, signal);
    } catch (error) {
      if (!isMissing(error, target.name) && !isStatusError(error, 'Conflict')) throw error;
    }
  }
}

/** What one pass goes by. */
export interface Look {
  discovery(): Promise<Discovery>;
  list(resource: DiscoveredResource, namespace: string): Promise<readonly KubeObject[]>;
}

/** Into one namespace, or without one into all of a logical cluster, of which each kind is then read once. */
export function lookInto(client: Client, { cluster, namespace, signal }: Partial<Where>): Look {
  const read = async (resource: DiscoveredResource): Promise<KubeObject[]> => {
    try {
      return (await client.list(resource, { cluster, namespace, signal })).items;
    } catch (error) {
      // Not served any more is another answer: what is discovered next tells.
      if (isStatusError(error, 'MethodNotAllowed')) return [];
      throw error;
    }
  };
  const discovery = once(() => discover(client, { cluster, signal, headers: { [othersHeader]: 'yes' } }));
  if (namespace !== undefined) return { discovery, list: read };
  const lists = new Map<DiscoveredResource, () => Promise<Map<string, KubeObject[]>>>();
  const list = async (resource: DiscoveredResource, of: string) => {
    const all = lists.get(resource) ?? once(() => read(resource).then(byNamespace));
    lists.set(resource, all);
    return (await all()).get(of) ?? [];
  };
  return { discovery, list };
}

function byNamespace(objects: readonly KubeObject[]): Map<string, KubeObject[]> {
  const found = new Map<string, KubeObject[]>();
  for (const object of objects) {
    const { namespace = '' } = object.metadata;
    const there = found.get(namespace);
    if (there) there.push(object);
    else found.set(namespace, [object]);
  }
  return found;
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** A Placement with shares says where copies still stand: without it nobody would remove them. */
function isInUse(resource: DiscoveredResource, object: KubeObject): boolean {
  if (!isPlacements(resource)) return false;
  const spec = object.spec as PlacementSpec | undefined;
  return Object.keys(spec?.shares ?? {}).length > 0;
}
