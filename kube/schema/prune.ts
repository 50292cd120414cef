import type { Json, JsonObject } from '../object.ts';
import { isRecord, setOwn } from '../untyped.ts';
import type { Schema } from './schema.ts';

/** By whom it is reported: of metadata another one than of everything else, of a whole object and of those inside it. */
interface Unknown {
  head: string[];
  fields: string[];
  embedded: string[];
}

/**
 * `value` without the fields that `schema` does not know, which are told in kube-apiserver's order. Values of a wrong type
 * stay: validation reports them.
 * @param path where `value` is: '' for a whole object, whose apiVersion, kind and metadata its schema must name.
 */
export function prune(value: Json, schema: Schema, path = ''): { value: Json; unknown: string[] } {
  const unknown: Unknown = { head: [], fields: [], embedded: [] };
  const pruned = visit(value, schema, { path, into: unknown.fields, unknown });
  const { head, fields, embedded } = unknown;
  return { value: pruned, unknown: [...head, ...fields.sort(), ...embedded.sort()] };
}

interface Place {
  path: string;
  /** Where what is not known here is told. */
  into: string[];
  unknown: Unknown;
}

function visit(value: Json, asked: Schema, place: Place): Json {
  const { path, into } = place;
  const given = (asked.type === 'any' && asked.known) || asked;
  if (given.type === 'list' && Array.isArray(value)) {
    return value.map((item, index) => visit(item, given.items, within(place, `${path}[${index}]`)));
  }
  if (!isRecord(value) || (given.type !== 'object' && given.type !== 'map')) return value;
  const embedded = given.type === 'object' ? given.embedded : undefined;
  const schema = embedded ?? given;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    const at = within(place, path === '' ? name : `${path}.${name}`);
    if (name === 'metadata' && path === '') at.into = place.unknown.head;
    if (name === 'metadata' && embedded) at.into = place.unknown.embedded;
    const known = schema.type === 'map' ? schema.values : schema.fields.get(name)?.schema;
    if (known !== undefined) setOwn(result, name, visit(item, known, at));
    else if (schema.type === 'object' && schema.open === true) setOwn(result, name, item);
    else into.push(`unknown field ${JSON.stringify(at.path)}`);
  }
  return result;
}

function within(place: Place, path: string): Place {
  return { ...place, path };
}
