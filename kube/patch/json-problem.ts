import type { Json, JsonObject } from '../object.ts';
import { getOwn, isRecord, textAt } from '../untyped.ts';
import { firstRefused, unescapePart } from './json.ts';

const operations = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** Which operation does not apply, in the words of the library that kube-apiserver patches with. */
export function whyNoJsonPatch(before: JsonObject, patch: Json): string | undefined {
  const refused = firstRefused(before, Array.isArray(patch) ? patch : []);
  if (refused === undefined) return undefined;
  const operation = isRecord(refused.operation) ? refused.operation : {};
  const [op = 'unknown', path] = ['op', 'path'].map((name) => textAt(operation, name));
  if (!operations.has(op)) return `Unexpected kind: ${op}`;
  if ((op === 'move' || op === 'copy') && textAt(operation, 'from') === undefined)
    return `${op} operation failed to decode from: operation, missing from field: missing value`;
  if (path === undefined) {
    const why = ['add', 'remove', 'copy'].includes(op) ? '' : 'operation missing path field: ';
    return `${op} operation failed to decode path: ${why}missing value`;
  }
  return whyNot(op, path, refused.before);
}

function whyNot(op: string, path: string, before: Json): string {
  const key = op === 'remove' ? missingKey(before, path) : undefined;
  if (key !== undefined)
    return `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`;
  const index = op === 'add' ? indexBeyond(before, path) : undefined;
  if (index !== undefined)
    return `error in add for path: '${path}': Unable to access invalid index: ${index}: invalid index referenced`;
  if (op === 'test') return `testing value ${path} failed: test failed`;
  if (op === 'replace')
    return `replace operation does not apply: doc is missing path: ${path}: missing value`;
  return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
}

/** The index at which a path would add to a list, where the list is shorter. */
function indexBeyond(value: Json, path: string): number | undefined {
  const parts = path.split('/').slice(1).map(unescapePart);
  const key = parts.pop() ?? '';
  let at: unknown = value;
  for (const part of parts)
    at = Array.isArray(at) ? at[Number(part)] : isRecord(at) ? getOwn(at, part) : undefined;
  return Array.isArray(at) && /^\d+$/.test(key) && Number(key) > at.length ? Number(key) : undefined;
}

/** What a path ends in, where all before it leads to an object. */
function missingKey(value: Json, path: string): string | undefined {
  const parts = path.split('/').slice(1);
  const key = parts.pop();
  let at: unknown = value;
  for (const part of parts) at = isRecord(at) ? getOwn(at, unescapePart(part)) : undefined;
  return key !== undefined && isRecord(at) ? unescapePart(key) : undefined;
}
