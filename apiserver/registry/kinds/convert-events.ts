import type { KubeObject } from '../../../kube/object.ts';

/** events.k8s.io/v1 name <-> core/v1 name. https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const names: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
];

export function eventToCore(event: KubeObject): KubeObject {
  return rename(event, 'v1', new Map(names));
}

export function eventFromCore(event: KubeObject): KubeObject {
  return rename(event, 'events.k8s.io/v1', new Map(names.map(([a, b]) => [b, a])));
}

function rename(event: KubeObject, apiVersion: string, to: ReadonlyMap<string, string>): KubeObject {
  const fields = Object.entries(event).map(([key, value]) => [to.get(key) ?? key, value]);
  return { ...(Object.fromEntries(fields) as KubeObject), apiVersion };
}
