import { setOwn } from './untyped.ts';

/**
 * Copies and comparisons of JSON trees as deep as decodeJson admits, without recursion, and with keys such as
 * `__proto__` as ordinary keys. Trees hold null, booleans, numbers, bigints (int64), strings, arrays, objects.
 */
type Container = unknown[] | Record<string, unknown>;

function shallow(value: Container): Container {
  return Array.isArray(value) ? value.slice() : { ...value };
}

export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const copy = shallow(value as Container);
  const pending: Container[] = [copy];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (Array.isArray(at)) {
      for (let i = 0; i < at.length; i++) {
        const item = at[i];
        if (typeof item !== 'object' || item === null) continue;
        const child = shallow(item as Container);
        at[i] = child;
        pending.push(child);
      }
      continue;
    }
    for (const key of Object.keys(at)) {
      const item = at[key];
      if (typeof item !== 'object' || item === null) continue;
      const child = shallow(item as Container);
      setOwn(at, key, child);
      pending.push(child);
    }
  }
  return copy as T;
}

/** Order of keys does not matter; an undefined property equals an absent one. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return isEqual(a, b, false);
}

/** As deepEqual; null, too, equals what is absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  return isEqual(a, b, true);
}

function isEqual(a: unknown, b: unknown, nullIsAbsent: boolean): boolean {
  const pending: unknown[] = [a, b];
  while (pending.length > 0) {
    const y = pending.pop();
    const x = pending.pop();
    if (x === y) continue;
    if (typeof x !== 'object' || typeof y !== 'object' || x === null || y === null) {
      if (nullIsAbsent && (x ?? undefined) === (y ?? undefined)) continue;
      if (Number.isNaN(x) && Number.isNaN(y)) continue;
      return false;
    }
    if (!pushChildren(x as Container, y as Container, pending, nullIsAbsent)) return false;
  }
  return true;
}

function pushChildren(x: Container, y: Container, pending: unknown[], nullIsAbsent: boolean): boolean {
  if (Array.isArray(x) || Array.isArray(y)) {
    if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return false;
    for (let i = 0; i < x.length; i++) pending.push(x[i], y[i]);
    return true;
  }
  const isAbsent = (value: unknown) => value === undefined || (nullIsAbsent && value === null);
  let defined = 0;
  for (const key of Object.keys(x)) {
    const value = x[key];
    if (isAbsent(value)) continue;
    defined++;
    const other = Object.hasOwn(y, key) ? y[key] : undefined;
    if (isAbsent(other)) return false;
    pending.push(value, other);
  }
  for (const key of Object.keys(y)) if (!isAbsent(y[key])) defined--;
  return defined === 0;
}
