import type { KubeObject } from '../kube/object.ts';
import { isRecord, mapAt } from '../kube/untyped.ts';
import type { PhysicalCluster } from './types.ts';

/** On Leases in root's kube-system, in each of which one server says together when it last heard of physical clusters of which nothing is new. */
export const heartbeatsLabel = 'atoll.dev/heartbeats';
/** There: JSON of RFC 3339 times by the names of the clusters. */
export const heartbeatsAnnotation = 'atoll.dev/heartbeats';

/** Milliseconds since 1970 by cluster; what is no such time says nothing. */
export function heartbeatsIn(lease: KubeObject): Map<string, number> {
  const text = mapAt(lease, 'metadata', 'annotations')?.[heartbeatsAnnotation];
  let found: unknown;
  try {
    found = JSON.parse(text ?? '');
  } catch {
    return new Map();
  }
  if (!isRecord(found)) return new Map();
  const times = Object.entries(found).map(([name, time]) => [name, Date.parse(String(time))] as const);
  return new Map(times.filter(([, time]) => !Number.isNaN(time)));
}

export function heartbeatsText(times: ReadonlyMap<string, number>): string {
  return JSON.stringify(
    Object.fromEntries([...times].map(([name, at]) => [name, new Date(at).toISOString()])),
  );
}

/** As it would be if it had said by itself what was said of it together with others, at `heard`: it, and no former one of its name. */
export function withHeartbeat(cluster: PhysicalCluster, heard: number | undefined): PhysicalCluster {
  const { lastHeartbeatTime = '', lastAnswerTime = '' } = cluster.status ?? {};
  const since = Date.parse(cluster.metadata.creationTimestamp ?? '') || 0;
  if (heard === undefined || heard < since || heard <= (Date.parse(lastHeartbeatTime) || 0)) return cluster;
  const time = new Date(heard).toISOString();
  const answered = heard > (Date.parse(lastAnswerTime) || 0) ? toTheSecond(heard) : lastAnswerTime;
  return { ...cluster, status: { ...cluster.status, lastHeartbeatTime: time, lastAnswerTime: answered } };
}

/** As people read when a cluster last answered. */
export function toTheSecond(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
