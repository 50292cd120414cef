import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import type { ResourceRef } from '../../client/url.ts';
import { logicalClusters, workspaces } from '../../cluster/names.ts';
import { groupResource } from '../../kube/gvk.ts';
import { undeletableNamespaces } from '../../kube/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Remains } from '../namespace/decide.ts';
import { emptyNamespace, lookInto } from '../namespace/empty.ts';
import { namespaces, systemNamespaces } from '../namespace/furnish.ts';

/**
 * One pass over all that a logical cluster that ends still holds: asks for the deletion of everything, and tells what
 * was there when it came by. Workspaces in it go first; then namespaces, so that what they hold leaves the
 * physical clusters, and what is in none. Finalizers are waited for, whosever they are. `isAsked`: all of it was asked to go just before; while
 * namespaces are left nothing else is looked at then, as no look before they are gone proves anything: undefined.
 */
export async function emptyLogicalCluster(
  client: Client,
  cluster: string,
  signal: AbortSignal,
  isAsked = false,
): Promise<Remains | undefined> {
  const remains: Tally = { counts: {}, finalizers: {}, failures: [], unknown: [] };
  await deleteAll(client, workspaces, cluster, signal, remains);
  if (!isNothing(remains)) return remains;
  await forgetOtherServers(client, cluster, signal);
  const { items } = await client.list(namespaces, { cluster, signal });
  const going = items.filter(({ metadata }) => !undeletableNamespaces.has(metadata.name ?? ''));
  if (isAsked && going.length > 0 && going.every(({ metadata }) => metadata.deletionTimestamp))
    return undefined;
  // Where nothing but these is left, each kind is read once for all of them; others may hold very much.
  const areLeft = items.every(({ metadata }) => systemNamespaces.includes(metadata.name ?? ''));
  const look = areLeft ? lookInto(client, { cluster, signal }) : undefined;
  for (const { metadata } of items) {
    const name = metadata.name ?? '';
    if (!undeletableNamespaces.has(name)) {
      // What holds it is in its own status.
      add(remains.counts, `namespace ${name}`);
      if (!metadata.deletionTimestamp) await ask(client, namespaces, { metadata }, cluster, signal);
      continue;
    }
    // They go with the logical cluster; what is in them goes before.
    const where = { cluster, namespace: name, signal };
    const { counts, finalizers, failures, unknown } = await emptyNamespace(client, where, look);
    for (const [kind, n] of Object.entries(counts)) add(remains.counts, `${kind} in ${name}`, n);
    for (const [finalizer, n] of Object.entries(finalizers)) add(remains.finalizers, finalizer, n);
    remains.failures.push(...failures);
    remains.unknown.push(...unknown);
  }
  const { resources, failed } = await discover(client, { cluster, signal });
  remains.unknown.push(...failed.map(({ group, version }) => `${group}/${version}`));
  for (const resource of resources.filter(isEmptied))
    await deleteAll(client, resource, cluster, signal, remains);
  return remains;
}

export function isNothing({ counts, failures, unknown }: Remains): boolean {
  return Object.keys(counts).length === 0 && failures.length === 0 && unknown.length === 0;
}

interface Tally extends Remains {
  counts: Record<string, number>;
  finalizers: Record<string, number>;
  failures: string[];
  unknown: string[];
}

function add(tally: Record<string, number>, name: string, n = 1): void {
  tally[name] = (tally[name] ?? 0) + n;
}

const others = [namespaces, logicalClusters];
const apiServices: ResourceRef = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };

function isEmptied({ namespaced, verbs, group, resource }: DiscoveredResource): boolean {
  if (others.some((other) => other.group === group && other.resource === resource)) return false;
  return !namespaced && verbs.includes('list') && verbs.includes('delete');
}

/** What a logical cluster's own API servers have is theirs: that one of them does not answer must not keep it. */
async function forgetOtherServers(client: Client, cluster: string, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(apiServices, { cluster, signal });
  for (const service of items) {
    const names = (service.spec as { service?: object } | undefined)?.service !== undefined;
    if (names && !service.metadata.deletionTimestamp)
      await ask(client, apiServices, service, cluster, signal);
  }
}

async function deleteAll(
  client: Client,
  resource: ResourceRef,
  cluster: string,
  signal: AbortSignal,
  remains: Tally,
): Promise<void> {
  const items = await client
    .list(resource, { cluster, signal })
    .then((list) => list.items)
    .catch((error: unknown) => {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'MethodNotAllowed')) return [];
      throw error;
    });
  for (const object of items) {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (!deletionTimestamp && !(await ask(client, resource, object, cluster, signal))) continue;
    add(remains.counts, groupResource(resource));
    for (const finalizer of finalizers) add(remains.finalizers, finalizer);
  }
}

/** False: it goes with the logical cluster only. */
async function ask(
  client: Client,
  resource: ResourceRef,
  { metadata }: Pick<KubeObject, 'metadata'>,
  cluster: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', uid } = metadata;
  try {
    const preconditions = uid ? { preconditions: { uid } } : {};
    await client.delete(
      resource,
      { cluster, name },
      { propagationPolicy: 'Background', ...preconditions },
      signal,
    );
    return true;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    return true;
  }
}
