import { getOwn, isObject } from '../kube/deep.ts';

/** What lies at a path inside JSON that nobody has vouched for; undefined as soon as a step is missing. */
export function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const step of path) {
    if (!isObject(here)) return undefined;
    here = getOwn(here, step);
  }
  return here;
}

export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A finite number. */
export function numberAt(value: unknown, ...path: string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

/** A map of strings; entries that are not strings are left out. */
export function mapAt(value: unknown, ...path: string[]): Record<string, string> | undefined {
  const found = at(value, ...path);
  if (!isObject(found)) return undefined;
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
