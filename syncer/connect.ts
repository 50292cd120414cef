import { Client } from '../client/client.ts';
import { isMissing, isTransportError } from '../client/errors.ts';
import { pathOf } from '../client/url.ts';
import { readyOf } from '../cluster/life.ts';
import { placements } from '../cluster/names.ts';
import { physicalNamespace, placementName } from '../cluster/placement.ts';
import { isHeld, reflectedFrom, reflectedKind, reflectedKinds } from '../cluster/reflected.ts';
import { tellersOf } from '../cluster/share.ts';
import { silenceOf, silenceSince } from '../cluster/silence.ts';
import type { Locator, PhysicalCluster, Placement } from '../cluster/types.ts';
import type { Transport } from '../kube/http.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { within } from '../kube/within.ts';
import { ownersThere } from './given-owners.ts';
import { namespaceOwnership } from './ownership.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/** How long a cluster may take to say whether a namespace is there. */
const answerMs = 5_000;

/** Where a pod runs; and of owners that it has up there, those that are there, too. */
export interface PodRoute {
  transport: Transport;
  path: string;
  ownersThere(owners: readonly OwnerReference[]): Promise<OwnerReference[]>;
}

/** A physical cluster that can be reached: its API, and the PhysicalCluster's uid. */
export interface Reachable {
  transport: Transport;
  uid: string;
}

export interface Connecting {
  client: Client;
  engaged: ReadonlyMap<string, Reachable>;
  clusterOf(name: string): PhysicalCluster | undefined;
  signal: AbortSignal;
}

/**
 * A reflected pod says where it runs; a placed Pod's Placement does. Only ever in the namespace of its own. Likewise
 * for what else one cluster alone is said to have. What is held here runs nowhere: another may have its name by now.
 */
export async function connectPod(
  { client, signal, ...ways }: Connecting,
  cluster: string,
  pod: KubeObject,
): Promise<PodRoute | undefined> {
  if (isHeld(pod)) return undefined;
  const { name = '', namespace = '' } = pod.metadata;
  const where = reflectedFrom(pod)[0] ?? (await placedOn(client, cluster, pod, 'pods', signal))[0];
  const found = where === undefined ? undefined : reach(ways, where);
  const home = found && (await homeOf(client, cluster, namespace, signal));
  if (!found || !home || !(await isOurs(found, home, signal))) return undefined;
  const of = reflectedKinds.find(({ kind }) => kind === pod.kind) ?? reflectedKind('pods');
  const path = pathOf(of, { namespace: home.name, name });
  const given = (owners: readonly OwnerReference[]) => ownersThere(found, home, owners, signal);
  return { transport: found.transport, path, ownersThere: given };
}

/**
 * Where it does not answer, who asked is told which cluster that is, and since when: StatusError 503. At once where
 * that is known; where it is only our syncer that is silent, the cluster is asked.
 */
export function reach(
  { engaged, clusterOf }: Pick<Connecting, 'engaged' | 'clusterOf'>,
  where: string,
): Reachable | undefined {
  const found = engaged.get(where);
  if (!found) return undefined;
  const cluster = clusterOf(where);
  const silence = cluster && silenceOf(cluster);
  if (silence && readyOf(cluster)?.status === 'False') throw unavailable(silence.words);
  const transport: Transport = async (request) => {
    try {
      return await found.transport(request);
    } catch (error) {
      const late = error instanceof DOMException && error.name === 'TimeoutError';
      if (!late && !isTransportError(error)) throw error;
      const { words } = cluster ? silenceSince(cluster) : { words: `cluster ${where} does not answer` };
      throw unavailable(late ? words : `${words}: ${error.message}`, error);
    }
  };
  return { ...found, transport };
}

function unavailable(message: string, cause?: unknown): StatusError {
  return new StatusError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 }, cause);
}

/** Where on every physical cluster a logical namespace is, and what the locator there says but for the cluster. */
interface Home {
  name: string;
  locator: Omit<Locator, 'syncer'>;
}

/** Nothing is placed there any more, but claims may be left. */
async function emptyHome(
  client: Client,
  cluster: string,
  namespace: string,
  signal: AbortSignal,
): Promise<Home | undefined> {
  try {
    const { metadata } = await client.get(namespaces, { cluster, name: namespace }, signal);
    const { uid = '' } = metadata;
    return { name: physicalNamespace(cluster, namespace, uid), locator: { cluster, namespace, uid } };
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Each Placement of the namespace says it. */
export async function homeOf(
  client: Client,
  cluster: string,
  namespace: string,
  signal: AbortSignal,
): Promise<Home | undefined> {
  const path = `/apis/atoll.dev/v1alpha1/namespaces/${encodeURIComponent(namespace)}/placements?limit=1`;
  const { items } = (await client.json(path, { cluster, signal })) as { items: Placement[] };
  const spec = items[0]?.spec;
  if (!spec) return await emptyHome(client, cluster, namespace, signal);
  const name = spec.physicalNamespace ?? physicalNamespace(cluster, namespace);
  return { name, locator: { cluster, namespace, uid: spec.namespaceUid ?? '' } };
}

/** Only the locator of the physical namespace says so. That is asked first, so it is what a silent cluster is known by. */
export async function isOurs(
  { transport, uid }: Reachable,
  home: Home,
  signal: AbortSignal,
): Promise<boolean> {
  const client = new Client(transport, { userAgent: 'atoll-syncer' });
  try {
    const there = await within(answerMs, signal, (soon) => client.get(namespaces, { name: home.name }, soon));
    return namespaceOwnership(there, { ...home.locator, syncer: uid }) !== 'foreign';
  } catch (error) {
    if (isMissing(error, home.name)) return false;
    throw error;
  }
}

/** The first of the physical clusters that have the Service and answer; where none does, StatusError 503 says so. */
export async function connectService(
  { client, signal, ...ways }: Connecting,
  cluster: string,
  service: KubeObject,
): Promise<{ transport: Transport; path: string } | undefined> {
  const { name = '', namespace = '' } = service.metadata;
  const home = await homeOf(client, cluster, namespace, signal);
  if (!home) return undefined;
  let silent: unknown;
  for (const where of await placedOn(client, cluster, service, 'services', signal)) {
    try {
      const found = reach(ways, where);
      if (!found || !(await isOurs(found, home, signal))) continue;
      return { transport: found.transport, path: `/api/v1/namespaces/${home.name}/services/${name}` };
    } catch (error) {
      if (!isStatusError(error, 'ServiceUnavailable')) throw error;
      silent ??= error;
    }
  }
  if (silent !== undefined) throw silent;
  return undefined;
}

export async function placedOn(
  client: Client,
  cluster: string,
  object: KubeObject,
  resource: 'pods' | 'services',
  signal: AbortSignal,
): Promise<string[]> {
  const { name = '', namespace } = object.metadata;
  const target = { cluster, namespace, name: placementName({ group: '', resource, name }) };
  try {
    const placement = await client.get<Placement>(placements, target, signal);
    return tellersOf(placement.spec?.shares ?? {});
  } catch (error) {
    if (isMissing(error, target.name)) return [];
    throw error;
  }
}
