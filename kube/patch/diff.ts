import { deepEqual } from '../deep.ts';
import type { Json, JsonObject } from '../object.ts';
import { getOwn, isRecord } from '../untyped.ts';

interface JsonOperation {
  op: 'add' | 'remove' | 'replace';
  path: string;
  value?: Json;
}

/** A JSON patch (RFC 6902) that makes `after` of `before`; empty: they are the same. Lists are compared from both of their ends. */
export function jsonPatchBetween(before: Json, after: Json): JsonOperation[] {
  return between(before, after, '');
}

function between(before: Json, after: Json, path: string): JsonOperation[] {
  if (deepEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(before, after, path);
  if (isRecord(before) && isRecord(after)) return ofObjects(before as JsonObject, after as JsonObject, path);
  return [{ op: 'replace', path, value: after }];
}

function ofObjects(before: JsonObject, after: JsonObject, path: string): JsonOperation[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key): JsonOperation[] => {
    const [was, is] = [getOwn(before, key), getOwn(after, key)];
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (is === undefined) return [{ op: 'remove', path: at }];
    return was === undefined ? [{ op: 'add', path: at, value: is }] : between(was, is, at);
  });
}

function ofLists(before: readonly Json[], after: readonly Json[], path: string): JsonOperation[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && deepEqual(before[start], after[start])) start++;
  let end = 0;
  while (end < least - start && deepEqual(before.at(-1 - end), after.at(-1 - end))) end++;
  const [were, are] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const both = Math.min(were.length, are.length);
  const changed = were
    .slice(0, both)
    .flatMap((was, i) => between(was, are[i] as Json, `${path}/${start + i}`));
  const added = are
    .slice(both)
    .map((value, i) => ({ op: 'add' as const, path: `${path}/${start + both + i}`, value }));
  const removed = were.slice(both).map(() => ({ op: 'remove' as const, path: `${path}/${start + both}` }));
  return [...changed, ...added, ...removed];
}
