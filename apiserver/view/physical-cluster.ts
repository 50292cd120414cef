import { apiVersion } from '../../cluster/names.ts';
import type { Condition, PhysicalCluster, PhysicalClusterStatus } from '../../cluster/types.ts';
import { deepEqual, isObject } from '../../kube/deep.ts';
import { badRequest, notFound } from '../../kube/status.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { StoreError } from '../../storage/store.ts';
import { boundedStatus } from './bounds.ts';
import { decode, encode, keys } from './codec.ts';

const resource = { group: 'atoll.dev', resource: 'physicalclusters' };
export const clusterKind = { kind: 'PhysicalCluster', apiVersion };

export async function getCluster(store: Store, name: string): Promise<PhysicalCluster> {
  const entry = await store.get(keys.physicalCluster(name));
  if (!entry) throw notFound(resource, name);
  return decode<PhysicalCluster>(entry);
}

/** The list that a syncer sees: itself. */
export async function listCluster(
  store: Store,
  name: string,
): Promise<{ revision: number; items: PhysicalCluster[] }> {
  const key = keys.physicalCluster(name);
  const { entries, revision } = await store.list({ start: key, end: `${key}\u0001` });
  return { revision, items: entries.map((entry) => decode<PhysicalCluster>(entry)) };
}

export function feedCluster(name: string) {
  const key = keys.physicalCluster(name);
  return ({ type, entry, previous }: StoreEvent) => {
    if (entry.key !== key) return undefined;
    const put = previous ? 'MODIFIED' : 'ADDED';
    return async () => [{ type: type === 'delete' ? 'DELETED' : put, object: decode(entry) }];
  };
}

/**
 * Of a merge patch only status.conditions, lastHeartbeatTime, lastAnswerTime, clusterUID, version and allocatable; spec
 * is not the syncer's.
 */
export async function patchCluster(
  store: Store,
  name: string,
  patch: Record<string, unknown>,
): Promise<PhysicalCluster> {
  if (!isObject(patch['status'])) throw badRequest('status is not an object');
  const told = boundedStatus(patch['status']);
  for (;;) {
    const entry = await store.get(keys.physicalCluster(name));
    if (!entry) throw notFound(resource, name);
    const cluster = decode<PhysicalCluster>(entry);
    const status = merged(cluster.status ?? {}, told);
    if (deepEqual(cluster.status ?? {}, status)) return cluster;
    try {
      const written = await store.update(entry.key, encode({ ...cluster, status }), entry.revision);
      return decode<PhysicalCluster>(written);
    } catch (error) {
      if (!(error instanceof StoreError && (error.code === 'conflict' || error.code === 'missing')))
        throw error;
    }
  }
}

function merged(before: PhysicalClusterStatus, told: Record<string, unknown>): PhysicalClusterStatus {
  const status = { ...before };
  const { conditions, lastHeartbeatTime, lastAnswerTime, clusterUID, version, allocatable } = told;
  if (Array.isArray(conditions)) {
    const own = conditions.flatMap((c) => asCondition(c) ?? []).slice(0, 16);
    const types = new Set(own.map((c) => c.type));
    status.conditions = [...(before.conditions ?? []).filter((c) => !types.has(c.type)), ...own];
  }
  if (isTime(lastHeartbeatTime)) status.lastHeartbeatTime = lastHeartbeatTime;
  if (isTime(lastAnswerTime)) status.lastAnswerTime = lastAnswerTime;
  if (typeof clusterUID === 'string') status.clusterUID = clusterUID.slice(0, 64);
  if (typeof version === 'string') status.version = version.slice(0, 64);
  if (isObject(allocatable)) {
    const quantities = Object.entries(allocatable).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1].length <= 32,
    );
    status.allocatable = Object.fromEntries(quantities.slice(0, 64));
  }
  return status;
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && !Number.isNaN(Date.parse(value));
}

function asCondition(value: unknown): Condition | undefined {
  if (!isObject(value)) return undefined;
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
