import { compareQuantities, parseQuantity } from '../defaults/quantity.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { at, isRecord, record, records } from '../untyped.ts';

const counted = ['cpu', 'memory'];

function positive(list: unknown): string[] {
  return counted.filter((name) => (parseQuantity(at(list, name))?.value ?? 0n) > 0n);
}

/** https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ */
export function podQosClass(pod: KubeObject): string {
  const spec = record(pod.spec);
  const own = record(spec['resources']);
  const podLevel = isRecord(own['requests']) || isRecord(own['limits']);
  const containers: JsonObject[] = podLevel
    ? [{ resources: own }]
    : [...records(spec['containers']), ...records(spec['initContainers'])];
  const asked = containers.map((container) => ({
    requests: record(at(container, 'resources', 'requests')),
    limits: record(at(container, 'resources', 'limits')),
  }));
  if (asked.every(({ requests, limits }) => positive(requests).length + positive(limits).length === 0)) {
    return 'BestEffort';
  }
  const guaranteed = asked.every(
    ({ requests, limits }) =>
      positive(limits).length === counted.length &&
      counted.every(
        (name) => requests[name] === undefined || compareQuantities(requests[name], limits[name]) === 0,
      ),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
