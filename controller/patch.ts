import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The smallest RFC 7396 patch that turns `old` into `wanted`; undefined when they are equal. Lists are replaced
 * whole. A field set to undefined counts as absent.
 */
export function mergePatchOf(old: Fields, wanted: Fields): Record<string, unknown> | undefined {
  const changes = new Map<string, unknown>();
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const before = own(old, key);
    // Most of what was decided anew is what was read.
    if (before === value) continue;
    if (isFields(before) && isFields(value)) {
      const inner = mergePatchOf(before, value);
      if (inner) changes.set(key, inner);
    } else if (!isDeepStrictEqual(before, value)) {
      changes.set(key, value);
    }
  }
  for (const [key, value] of Object.entries(old)) {
    if (value !== undefined && own(wanted, key) === undefined) changes.set(key, null);
  }
  // fromEntries makes own fields of any name, `__proto__` too.
  return changes.size === 0 ? undefined : Object.fromEntries(changes);
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
