import { podLevelResources } from './defaults/pod.ts';
import type { JsonObject, KubeObject } from './object.ts';
import { at, isRecord, record, records, text } from './untyped.ts';

type Quantities = Record<string, string>;

/** One of a LimitRange's `spec.limits`. */
export interface Limit {
  type: string;
  min?: Quantities;
  max?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
  maxLimitRequestRatio?: Quantities;
}

const annotation = 'kubernetes.io/limit-ranger';

export function limitsOf({ spec }: KubeObject): Limit[] {
  return (spec as { limits?: Limit[] } | undefined)?.limits ?? [];
}

/** Gives the containers of a pod what the limits of LimitRanges say and they do not, one LimitRange after the other. */
export function fillFromRanges(pod: KubeObject, ranges: readonly (readonly Limit[])[]): void {
  for (const range of ranges) fillContainers(pod, range);
  // What the pod as a whole asks for is by default what its containers do.
  if (ranges.length > 0 && isRecord(pod.spec))
    podLevelResources(pod.spec, [...records(pod.spec['containers']), ...records(pod.spec['initContainers'])]);
}

function fillContainers(pod: KubeObject, range: readonly Limit[]): void {
  const limits = range.filter(({ type }) => type === 'Container');
  const requests: Quantities = Object.assign({}, ...limits.map((limit) => limit.defaultRequest));
  const tops: Quantities = Object.assign({}, ...limits.map((limit) => limit.default));
  const set: string[] = [];
  for (const list of ['containers', 'initContainers'] as const) {
    const what = list === 'containers' ? 'container' : 'init container';
    for (const container of records(at(pod.spec, list))) {
      for (const kind of ['request', 'limit'] as const) {
        const names = fill(container, `${kind}s`, kind === 'request' ? requests : tops);
        if (names.length > 0) set.push(`${names.join(', ')} ${kind} for ${what} ${text(container['name'])}`);
      }
    }
  }
  if (set.length === 0) return;
  const said = `LimitRanger plugin set: ${set.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: said };
}

function fill(container: JsonObject, kind: 'requests' | 'limits', given: Quantities): string[] {
  const resources = record(container['resources']);
  const there = record(resources[kind]);
  const names = Object.keys(given).filter((name) => !Object.hasOwn(there, name));
  if (names.length === 0) return [];
  const added = Object.fromEntries(names.map((name) => [name, given[name] ?? '']));
  container['resources'] = { ...resources, [kind]: { ...there, ...added } };
  return names.sort();
}
