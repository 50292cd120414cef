import { isRecord, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { driverName } from '../pod/volume.ts';
import { dns1123Label, dns1123Subdomain } from '../rules.ts';

/** Lists of resource.k8s.io: checked item by item, unless there are too many. `most` is negative where none is. */
export function items<T>(
  list: readonly T[],
  most: number,
  field: Field,
  check: (item: T, itemField: Field) => void,
): boolean {
  if (most >= 0 && list.length > most) {
    field.tooMany(list.length, most);
    return false;
  }
  for (const [index, item] of list.entries()) check(item, field.index(index));
  return true;
}

/** As items, each with a key of its own. */
export function keyed<T>(
  list: readonly T[],
  most: number,
  field: Field,
  how: { key(item: T): string; shown?(item: T): unknown; check(item: T, itemField: Field): void },
): void {
  if (!items(list, most, field, how.check)) return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const key = how.key(item);
    if (seen.has(key)) field.index(index).duplicate(how.shown?.(item) ?? key);
    seen.add(key);
  }
}

export function poolName(name: string, field: Field): void {
  if (!name) {
    field.required();
    return;
  }
  if (name.length > 253) field.tooLong(253);
  for (const part of name.split('/')) dns1123Subdomain(part, field);
}

export const mostIdBytes = 32;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

function cIdentifier(id: string, field: Field): void {
  if (Buffer.byteLength(id) > mostIdBytes) field.tooLong(mostIdBytes);
  if (identifier.test(id)) return;
  const rule =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
  field.invalid(
    id,
    `${rule} (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')`,
  );
}

/** `[domain/]name` of an attribute or a capacity. */
export function attributeName(name: string, field: Field): void {
  const parts = name.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) return;
  if (second === undefined) {
    cIdentifier(first, field);
    return;
  }
  if (!first) field.invalid('', 'the domain must not be empty');
  else driverName(first, field);
  if (!second) field.invalid('', 'the name must not be empty');
  else cIdentifier(second, field);
}

export function domainAttributeName(name: string, field: Field): void {
  attributeName(name, field);
  if (!name.includes('/'))
    field.invalid(name, 'a fully qualified name must be a domain and a name separated by a slash');
}

export const requestName = dns1123Label;

/** A document of the driver's own: an object, of at most `most` bytes. */
export function opaque(value: unknown, most: number, field: Field): void {
  if (value === undefined || value === null) field.required();
  else if (Buffer.byteLength(JSON.stringify(value)) > most) field.tooLong(most);
  else if (!isRecord(value)) field.invalid('<value omitted>', 'must be a valid JSON object');
}

export function nodeName(value: unknown, field: Field): void {
  dns1123Subdomain(text(value), field);
}
