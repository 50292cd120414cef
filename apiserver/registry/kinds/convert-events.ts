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

/** What the core group's writes where there is none, this one leaves out. */
const leftOut = ['reportingController', 'reportingInstance'] as const;

export function eventFromCore(event: KubeObject): KubeObject {
  const shown = rename(event, 'events.k8s.io/v1', new Map(names.map(([a, b]) => [b, a])));
  for (const name of leftOut) if (shown[name] === '') delete shown[name];
  return shown;
}

function rename(event: KubeObject, apiVersion: string, to: ReadonlyMap<string, string>): KubeObject {
  const fields = Object.entries(event).map(([key, value]) => [to.get(key) ?? key, value]);
  return { ...(Object.fromEntries(fields) as KubeObject), apiVersion };
}
