import { schemaNamed } from '../../../kube/schema/builtin.ts';
import type { Field, ListSchema, ObjectSchema, Schema } from '../../../kube/schema/schema.ts';
import { isRecord } from '../../../kube/untyped.ts';

type Properties = Record<string, unknown>;

const any: Schema = { type: 'any' };
const maxDepth = 100;

/** A CRD version's structural schema, for merging, apply and pruning; a missing one keeps everything. */
export function schemaFromOpenApi(root: unknown): Schema {
  const schema = convert(root, 0, true);
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

function convert(given: unknown, depth: number, isRoot = false): Schema {
  if (!isRecord(given) || depth > maxDepth) return any;
  const extension = (name: string) => given[`x-kubernetes-${name}`];
  if (extension('int-or-string') === true) return { type: 'int-or-string' };
  switch (given['type']) {
    case 'object':
      return convertObject(given, depth, extension('preserve-unknown-fields') === true, isRoot);
    case 'array':
      return convertList(given, depth);
    case 'string':
      return { type: 'string' };
    case 'integer':
      return { type: 'integer', format: given['format'] === 'int32' ? 'int32' : 'int64' };
    case 'number':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    default:
      return convertUntyped(given, depth, extension('preserve-unknown-fields') === true);
  }
}

/** It may be anything, and is pruned only inside of what it names, if it is an object. */
function convertUntyped(given: Properties, depth: number, preserve: boolean): Schema {
  const names = isRecord(given['properties']) || isRecord(given['additionalProperties']);
  if (!preserve || !names) return any;
  const known = convertObject(given, depth, true, false);
  return known.type === 'object' || known.type === 'map' ? { type: 'any', known } : any;
}

function convertObject(given: Properties, depth: number, preserve: boolean, isRoot: boolean): Schema {
  const properties = given['properties'];
  const additional = given['additionalProperties'];
  const atomic = given['x-kubernetes-map-type'] === 'atomic';
  if (!isRecord(properties)) {
    if (isRecord(additional)) {
      return { type: 'map', values: convert(additional, depth + 1), ...(atomic && { atomic }) };
    }
    if (additional === true) return { type: 'map', values: any, ...(atomic && { atomic }) };
  }
  const required = Array.isArray(given['required']) ? given['required'] : [];
  const fields = new Map<string, Field>();
  for (const [name, value] of Object.entries(isRecord(properties) ? properties : {})) {
    const schema = convert(value, depth + 1);
    const byDefault = isRecord(value) ? value['default'] : undefined;
    fields.set(name, {
      name,
      schema,
      ...(required.includes(name) && { required: true }),
      ...(byDefault !== undefined && { default: byDefault }),
    });
  }
  if (given['x-kubernetes-embedded-resource'] === true && !isRoot) {
    const embedded: ObjectSchema = {
      type: 'object',
      fields: withHead(fields),
      ...(preserve && { open: true }),
    };
    return { type: 'object', fields, open: true, embedded };
  }
  return { type: 'object', fields, ...(preserve && { open: true }), ...(atomic && { atomic }) };
}

function convertList(given: Properties, depth: number): Schema {
  const listType = given['x-kubernetes-list-type'];
  const keys = given['x-kubernetes-list-map-keys'];
  const known = listType === 'set' || listType === 'map' || listType === 'atomic';
  const schema: ListSchema = {
    type: 'list',
    items: convert(given['items'], depth + 1),
    ...(known && { listType }),
    ...(Array.isArray(keys) && { listMapKeys: keys.map(String) }),
  };
  return schema;
}
