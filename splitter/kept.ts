import type { ObjectRef } from '../cluster/types.ts';
import { deepEqual, sameJson } from '../kube/deep.ts';
import { normaliseStatus } from '../kube/defaults/normalise.ts';
import { rootType } from '../kube/defaults/shape.ts';
import type { JsonObject, KubeObject } from '../kube/object.ts';
import type { Status } from './fold/part.ts';

/**
 * What is to be a root's status, as the API keeps it, which says null, zero or nothing where a built-in kind does: the root's own where nothing is new in it.
 * So nobody writes what is there, and what was written is known when it comes back. A custom resource keeps what it is given.
 */
export function asKept({ status: before }: KubeObject, ref: ObjectRef, status: Status): Status {
  const { group, version, kind, rule } = ref;
  if (rule) return deepEqual(before, status) ? (before as Status) : status;
  // What is seldom: that it says the same in other words.
  if (sameJson(before, status)) return before as Status;
  const kept = normaliseStatus(status as JsonObject, rootType(group, version, kind));
  return deepEqual(before, kept) ? (before as Status) : kept;
}
