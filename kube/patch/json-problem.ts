import type { Json, JsonObject } from '../object.ts';
import { getOwn, isRecord } from '../untyped.ts';
import { firstRefused, unescapePart } from './json.ts';

const operations = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** Which operation does not apply, in the words of the library that kube-apiserver patches with. */
export function whyNoJsonPatch(before: JsonObject, patch: Json): string | undefined {
  const refused = firstRefused(before, Array.isArray(patch) ? patch : []);
  if (refused === undefined) return undefined;
  const { op, path } = refused.operation as { op?: string; path?: string };
  if (!operations.has(op ?? '')) return `Unexpected kind: ${op}`;
  const key = op === 'remove' ? missingKey(refused.before, path ?? '') : undefined;
  if (key !== undefined)
    return `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`;
  if (op === 'test') return `testing value ${path} failed: test failed`;
  if (op === 'replace')
    return `replace operation does not apply: doc is missing path: ${path}: missing value`;
  return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
}

/** What a path ends in, where all before it leads to an object. */
function missingKey(value: Json, path: string): string | undefined {
  const parts = path.split('/').slice(1);
  const key = parts.pop();
  let at: unknown = value;
  for (const part of parts) at = isRecord(at) ? getOwn(at, unescapePart(part)) : undefined;
  return key !== undefined && isRecord(at) ? unescapePart(key) : undefined;
}
