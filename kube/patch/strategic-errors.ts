import { goType } from '../go-words.ts';
import type { Json } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';
import { isRecord } from '../untyped.ts';

export const badPrimitiveList = () => badRequest('invalid patch format of primitive list');
export const badRetainKeys = () => badRequest('invalid patch format of retainKeys');
export const badElementOrder = () => badRequest('invalid patch format of setElementOrder list');

export function listOfLists(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', message, {});
}

/** The rest kube-apiserver does not classify: 500, no reason, the bare text. */
export function unclassified(message: string): StatusError {
  return new StatusError(500, '', message);
}

export function noMergeKey(item: Json, key: string): StatusError {
  return unclassified(`map: ${goText(item)} does not contain declared merge key: ${key}`);
}

export function unknownDirective(directive: Json, item: Json): StatusError {
  return unclassified(
    `unknown patch type: ${directive === null ? '%!s(<nil>)' : goString(directive)} in map: ${goText(item)}`,
  );
}

export function wrongType(expected: 'map' | 'list', actual: Json | undefined): StatusError {
  const received = actual === null || actual === undefined ? '%!s(<nil>)' : goType(actual);
  return unclassified(`expected a ${goType(expected === 'map' ? {} : [])}, but received a ${received}`);
}

/** Go's %s, of what should be a string. */
function goString(value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<nil>';
  if (typeof value === 'object') return goStrings(value);
  return `%!s(${goType(value)}=${goText(value)})`;
}

function goStrings(value: Json[] | { [key: string]: Json }): string {
  if (Array.isArray(value)) return `[${value.map(goString).join(' ')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goString(item)}`).join(' ')}]`;
}

/** Go's %v: `map[a:1 b:[x y]]`, keys in order. */
export function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isRecord(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goText(item as Json)}`).join(' ')}]`;
}
