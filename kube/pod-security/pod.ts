import type { JsonObject } from '../object.ts';
import { at, records, textAt } from '../untyped.ts';

/** A Pod, or a template of one. */
export interface PodLike {
  annotations: Readonly<Record<string, string>>;
  spec: JsonObject;
}

/** What a check has against a pod: in short, and which parts of it. */
export interface Violation {
  reason: string;
  detail: string;
}

export type Check = (pod: PodLike) => Violation | undefined;

/** All of them, in the order in which they start. */
export function containersOf({ spec }: PodLike): JsonObject[] {
  return [
    ...records(spec['initContainers']),
    ...records(spec['containers']),
    ...records(spec['ephemeralContainers']),
  ];
}

/** The names of those of which it holds. */
export function containersThat(
  { spec, annotations }: PodLike,
  holds: (container: JsonObject) => boolean,
): string[] {
  return containersOf({ spec, annotations }).filter(holds).map(nameOf);
}

export function nameOf(one: JsonObject): string {
  return textAt(one, 'name') ?? '';
}

/** A member of a securityContext, of the pod or of a container. */
export function securityAt(of: JsonObject, ...path: string[]): unknown {
  return at(of, 'securityContext', ...path);
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

export function plural(one: string, many: string, items: { length: number }): string {
  return items.length === 1 ? one : many;
}

export function sortedSet(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

/** `container "a"`, `containers "a", "b"` */
export function containersNamed(names: readonly string[]): string {
  return `${plural('container', 'containers', names)} ${quoted(names)}`;
}

/** Who sets something that must not be: `pod and container "a"`. */
export function setters(pod: boolean, containers: readonly string[]): string {
  return [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersNamed(containers)] : [])].join(
    ' and ',
  );
}

export function isWindows({ spec }: PodLike): boolean {
  return textAt(spec, 'os', 'name') === 'windows';
}

/** Root in it is nobody outside. */
export function hasUserNamespace({ spec }: PodLike): boolean {
  return spec['hostUsers'] === false;
}

/** Not of pods that are none of its business. */
export function unless(exempt: (pod: PodLike) => boolean, check: Check): Check {
  return (pod) => (exempt(pod) ? undefined : check(pod));
}
