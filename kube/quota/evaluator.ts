import type { KubeObject } from '../object.ts';
import type { ResourceList } from './list.ts';
import type { Scope } from './scope.ts';

/** A write that may cost something. */
export interface Change {
  operation: string;
  subresource: string;
  object: KubeObject;
  old?: KubeObject | undefined;
}

/** How objects of one resource count against quotas. */
export interface Evaluator {
  readonly group: string;
  readonly resource: string;
  /** Whether such a write can change what is used. */
  handles(change: Change): boolean;
  /** Whether it counts under this name of a quota. */
  counts(name: string): boolean;
  /** `now` in milliseconds: what is stuck in its end does not count for ever. */
  usage(object: KubeObject, now: number): ResourceList;
  matches(scope: Scope, object: KubeObject): boolean;
  /** What an object has to state where a quota bounds these, in a sentence; undefined: it does. */
  missing?(names: readonly string[], object: KubeObject): string | undefined;
}

export function countName(group: string, resource: string): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}
