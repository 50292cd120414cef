import type { KubeObject } from '../kube/object.ts';
import { isRecord, mapAt } from '../kube/untyped.ts';
import type { PhysicalCluster } from './types.ts';

/** On Leases in root's kube-system, in each of which one server says together when it last heard of physical clusters of which nothing is new. */
export const heartbeatsLabel = 'atoll.dev/heartbeats';
/** There: JSON of RFC 3339 times by the names of the clusters. */
export const heartbeatsAnnotation = 'atoll.dev/heartbeats';

/** What it says of each cluster, as it stands there. */
export function wordsIn(lease: KubeObject): Readonly<Record<string, unknown>> {
  const text = mapAt(lease, 'metadata', 'annotations')?.[heartbeatsAnnotation];
  try {
    const found: unknown = JSON.parse(text ?? '');
    return isRecord(found) ? found : {};
  } catch {
    return {};
  }
}

/** Milliseconds since 1970; undefined: it is no such time, and says nothing. */
export function timeOf(word: unknown): number | undefined {
  const time = Date.parse(String(word));
  return Number.isNaN(time) ? undefined : time;
}

/** The times by cluster. */
export function heartbeatsIn(lease: KubeObject): Map<string, number> {
  const times = Object.entries(wordsIn(lease)).map(([name, word]) => [name, timeOf(word)] as const);
  return new Map(times.filter((one): one is [string, number] => one[1] !== undefined));
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
