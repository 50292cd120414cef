import { encodeJson } from '../../json.ts';
import type { Json } from '../../object.ts';
import { sortedKeys } from '../../sorted.ts';
import type { StatusCause } from '../../status.ts';
import { isRecord } from '../../untyped.ts';

type Rules = Record<string, unknown>;

/** The causes for which lists repeat what must be there once: items of sets, keys of maps. */
export function validateLists(value: unknown, schema: unknown, path = ''): StatusCause[] {
  if (!isRecord(schema)) return [];
  if (Array.isArray(value)) {
    const below = value.flatMap((item, i) => validateLists(item, schema['items'], `${path}[${i}]`));
    return [...repeated(value, schema, path), ...below];
  }
  if (!isRecord(value)) return [];
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  return Object.keys(value)
    .sort()
    .flatMap((name) => {
      const known = Object.hasOwn(properties, name);
      const at = known ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`;
      return validateLists(value[name], known ? properties[name] : schema['additionalProperties'], at);
    });
}

function repeated(list: readonly unknown[], schema: Rules, path: string): StatusCause[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys'])
    ? schema['x-kubernetes-list-map-keys']
    : [];
  const times = new Map<string, number>();
  return list.flatMap((item, i) => {
    const compared = type === 'set' || !isRecord(item) ? item : keyOf(item, keys.map(String));
    const identity = encodeJson(sortedKeys(compared as Json));
    const count = (times.get(identity) ?? 0) + 1;
    times.set(identity, count);
    // However often it is there, it is told once.
    if (count !== 2) return [];
    return [
      { reason: 'FieldValueDuplicate', message: `Duplicate value: ${identity}`, field: `${path}[${i}]` },
    ];
  });
}

function keyOf(item: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}
