import { isRecord } from '../untyped.ts';

/**
 * Lists and maps that somebody gave, empty, and that are as good as absent: storage does not tell them from none, but
 * messages of kube-apiserver show them. Copies by spread keep the mark, JSON does not.
 */
const emptied = Symbol('emptied');

type Empty = readonly never[] | Readonly<Record<string, never>>;
type Marked = { [emptied]?: Readonly<Record<string, Empty>> };

/** Marks that `object[key]`, which is not there, was given as an empty list or map. `key` is never a user's. */
export function markEmpty(object: object, key: string, list: boolean): void {
  const marked = object as Marked;
  marked[emptied] = { ...marked[emptied], [key]: list ? [] : {} };
}

/** What was given empty of `object`, by key. */
export function emptiesOf(object: unknown): Readonly<Record<string, Empty>> | undefined {
  return isRecord(object) ? (object as Marked)[emptied] : undefined;
}

/** `object[key]`, empty where it was given so, null where it was not given. */
export function given(object: unknown, key: string): unknown {
  if (!isRecord(object)) return null;
  return object[key] ?? emptiesOf(object)?.[key] ?? null;
}
