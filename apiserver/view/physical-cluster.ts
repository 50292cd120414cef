import { apiVersion, moreServed, rootCluster } from '../../cluster/names.ts';
import { moreLabels } from '../../cluster/node-fit.ts';
import type { Condition, PhysicalCluster, PhysicalClusterStatus } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import { andThen, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { badRequest, notFound } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Entry, Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { translated } from '../registry/errors.ts';
import { keyRange } from '../registry/keys.ts';
import { recentAt } from '../registry/recent.ts';
import { keyOf, type ObjectAddress, readObject, rewriteObject } from '../registry/rewrite.ts';
import { boundedStatus } from './bounds.ts';
import { clustersStored } from './places.ts';

export const clusterKind = { kind: 'PhysicalCluster', apiVersion };

export async function getCluster(store: Store, name: string): Promise<PhysicalCluster> {
  const cluster = await readObject<PhysicalCluster>(store, addressOf(name));
  if (!cluster) throw notFound(clustersStored, name);
  return cluster;
}

/**
 * Fails with 404 where it is not there, as of what this server has heard: a syncer's word may as well have come a moment before its
 * cluster went.
 */
export function requireCluster(store: Store, name: string): Later<unknown> {
  return andThen<readonly Entry[], unknown>(
    recentAt(store, clusterKey(name)),
    ([known]) => known ?? getCluster(store, name),
  );
}

function addressOf(name: string): ObjectAddress {
  return { resource: clustersStored, cluster: rootCluster, namespace: '', name };
}

/** The list that a syncer sees: itself. */
export async function listCluster(
  store: Store,
  name: string,
): Promise<{ revision: number; items: PhysicalCluster[] }> {
  const range = keyRange(clusterKey(name));
  const { entries, revision } = await translated(store.list(range), clustersStored, name);
  return { revision, items: entries.map((entry) => decodeStored(entry) as PhysicalCluster) };
}

export function clusterKey(name: string): string {
  return keyOf(addressOf(name));
}

export function tellCluster({ type, entry, previous }: StoreEvent): { type: string; object: KubeObject } {
  const put = previous ? 'MODIFIED' : 'ADDED';
  return { type: type === 'delete' ? 'DELETED' : put, object: decodeStored(entry) };
}

/**
 * Of a merge patch only status.conditions, lastHeartbeatTime, silentAfterSeconds, lastAnswerTime, clusterUID, version, namespaces,
 * allocatable, nodeLabels and serves; spec is not the syncer's.
 */
export async function patchCluster(
  store: Store,
  name: string,
  patch: Record<string, unknown>,
): Promise<PhysicalCluster> {
  if (!isRecord(patch['status'])) throw badRequest('status is not an object');
  const told = boundedStatus(patch['status']);
  const written = await rewriteObject<PhysicalCluster>(store, addressOf(name), (cluster) => {
    if (!cluster) throw notFound(clustersStored, name);
    const status = merged(cluster.status ?? {}, told);
    return deepEqual(cluster.status ?? {}, status) ? cluster : { ...cluster, status };
  });
  return written as PhysicalCluster;
}

function merged(before: PhysicalClusterStatus, told: Record<string, unknown>): PhysicalClusterStatus {
  const status = { ...before };
  const { conditions, lastHeartbeatTime, lastAnswerTime, clusterUID, version, allocatable, namespaces } =
    told;
  const { nodeLabels, serves, silentAfterSeconds } = told;
  if (Array.isArray(conditions)) {
    const own = conditions.flatMap((c) => asCondition(c) ?? []).slice(0, 16);
    const types = new Set(own.map((c) => c.type));
    status.conditions = [...(before.conditions ?? []).filter((c) => !types.has(c.type)), ...own];
  }
  if (isTime(lastHeartbeatTime)) status.lastHeartbeatTime = lastHeartbeatTime;
  if (typeof silentAfterSeconds === 'number' && silentAfterSeconds <= mostSilentSeconds)
    status.silentAfterSeconds = Math.max(0, Math.trunc(silentAfterSeconds));
  if (isTime(lastAnswerTime)) status.lastAnswerTime = lastAnswerTime;
  if (typeof clusterUID === 'string') status.clusterUID = clusterUID.slice(0, 64);
  if (typeof version === 'string') status.version = version.slice(0, 64);
  if (typeof namespaces === 'number') status.namespaces = Math.trunc(namespaces);
  if (isRecord(allocatable)) {
    const quantities = Object.entries(allocatable).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1].length <= 32,
    );
    status.allocatable = Object.fromEntries(quantities.slice(0, 64));
  }
  if (Array.isArray(nodeLabels))
    status.nodeLabels = [
      ...new Set(
        nodeLabels.filter((one) => typeof one === 'string' && (one === moreLabels || labelled.test(one))),
      ),
    ].slice(0, mostServed) as string[];
  if (Array.isArray(serves))
    status.serves = [
      ...new Set(
        serves.filter((one) => typeof one === 'string' && (one === moreServed || servedName.test(one))),
      ),
    ].slice(0, mostServed) as string[];
  return status;
}

/** No syncer is to be left unheard for longer. */
const mostSilentSeconds = 600;
/** What a syncer sends is no more, and shorter: see servedBy and nodeLabels. */
const mostServed = 1000;
const labelled =
  /^(?:[A-Za-z0-9][A-Za-z0-9./_-]{0,316}=(?:\*|[A-Za-z0-9._-]{0,253})|![A-Za-z0-9][A-Za-z0-9./_-]{0,316})$/;
const servedName = /^[a-z0-9][a-z0-9.-]{0,200}\/[a-z0-9]{1,63}$/;

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && !Number.isNaN(Date.parse(value));
}

function asCondition(value: unknown): Condition | undefined {
  if (!isRecord(value)) return undefined;
  const { type, status, reason, message, lastTransitionTime } = value;
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  if (typeof type !== 'string' || typeof lastTransitionTime !== 'string') return undefined;
  const text = (of: unknown, max: number) => (typeof of === 'string' ? of.slice(0, max) : '');
  return {
    type: text(type, 64),
    status,
    reason: text(reason, 128),
    message: text(message, 1024),
    lastTransitionTime,
  };
}
