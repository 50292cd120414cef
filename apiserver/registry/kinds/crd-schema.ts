import { schemaNamed } from '../../../kube/schema/builtin.ts';
import type { Field, ListSchema, ObjectSchema, Schema } from '../../../kube/schema/schema.ts';
import { isRecord } from '../../../kube/untyped.ts';

type Properties = Record<string, unknown>;

const any: Schema = { type: 'any' };
const maxDepth = 100;

/** A CRD version's structural schema, for merging, apply and pruning; a missing one keeps everything. */
export function schemaFromOpenApi(root: unknown): Schema {
  const schema = convert(root, { depth: 0, isRoot: true });
  const fields = schema.type === 'object' ? schema.fields : new Map<string, Field>();
  const open = schema.type !== 'object' || schema.open === true;
  return { type: 'object', fields: withHead(fields), ...(open && { open }) };
}

/** With what every object has, whatever its schema says of it: the whole one, and those that are inside it. */
function withHead(fields: ReadonlyMap<string, Field>): Map<string, Field> {
  const all = new Map(fields);
  for (const name of ['apiVersion', 'kind']) all.set(name, { name, schema: { type: 'string' } });
  const meta = schemaNamed('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  return all.set('metadata', { name: 'metadata', schema: meta ?? any });
}

interface Place {
  depth: number;
  isRoot?: boolean;
  /** In a list that keeps what is not known: so do its items, and theirs where they are lists. */
  kept?: boolean;
  /** Below what keeps what is not known: applying takes it, and pruning drops it. */
  loose?: boolean;
}

function convert(given: unknown, { kept, ...place }: Place): Schema {
  if (!isRecord(given) || place.depth > maxDepth) return any;
  const extension = (name: string) => given[`x-kubernetes-${name}`];
  if (extension('int-or-string') === true) return { type: 'int-or-string' };
  const preserve = extension('preserve-unknown-fields') === true || kept === true;
  switch (given['type']) {
    case 'object':
      return convertObject(given, preserve, place);
    case 'array':
      return convertList(given, preserve, place);
    case 'string':
      return { type: 'string' };
    case 'integer':
      return { type: 'integer', format: given['format'] === 'int32' ? 'int32' : 'int64' };
    case 'number':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    default:
      return convertUntyped(given, preserve, place);
  }
}

/** It may be anything, and is pruned only inside of what it names, if it is an object. */
function convertUntyped(given: Properties, preserve: boolean, { isRoot: _, ...place }: Place): Schema {
  const names = isRecord(given['properties']) || isRecord(given['additionalProperties']);
  if (!preserve || !names) return any;
  const known = convertObject(given, true, place);
  return known.type === 'object' || known.type === 'map' ? { type: 'any', known } : any;
}

function convertObject(given: Properties, preserve: boolean, place: Place): Schema {
  const properties = given['properties'];
  const additional = given['additionalProperties'];
  const atomic = given['x-kubernetes-map-type'] === 'atomic';
  const within: Place = { depth: place.depth + 1, loose: preserve || place.loose === true };
  if (!isRecord(properties)) {
    if (isRecord(additional)) {
      return { type: 'map', values: convert(additional, within), ...(atomic && { atomic }) };
    }
    if (additional === true) return { type: 'map', values: any, ...(atomic && { atomic }) };
  }
  const fields = fieldsOf(given, within);
  if (given['x-kubernetes-embedded-resource'] === true && place.isRoot !== true) {
    const embedded: ObjectSchema = {
      type: 'object',
      fields: withHead(fields),
      ...(preserve && { open: true }),
    };
    return { type: 'object', fields, open: true, embedded };
  }
  const loose = place.loose === true || fields.size === 0;
  return {
    type: 'object',
    fields,
    ...(preserve ? { open: true } : loose && { loose }),
    ...(atomic && { atomic }),
  };
}

function fieldsOf({ properties, required }: Properties, within: Place): Map<string, Field> {
  const all = Array.isArray(required) ? required : [];
  const fields = new Map<string, Field>();
  for (const [name, value] of Object.entries(isRecord(properties) ? properties : {})) {
    const byDefault = isRecord(value) ? value['default'] : undefined;
    fields.set(name, {
      name,
      schema: convert(value, within),
      ...(all.includes(name) && { required: true }),
      ...(byDefault !== undefined && { default: byDefault }),
    });
  }
  return fields;
}

function convertList(given: Properties, preserve: boolean, { depth, loose }: Place): Schema {
  const listType = given['x-kubernetes-list-type'];
  const keys = given['x-kubernetes-list-map-keys'];
  const known = listType === 'set' || listType === 'map' || listType === 'atomic';
  const items: Place = { depth: depth + 1, kept: preserve, loose: preserve || loose === true };
  const schema: ListSchema = {
    type: 'list',
    items: convert(given['items'], items),
    ...(known && { listType }),
    ...(Array.isArray(keys) && { listMapKeys: keys.map(String) }),
  };
  return schema;
}
