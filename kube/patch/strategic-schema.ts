import type { Field, Schema } from '../schema/schema.ts';
import { unclassified } from './strategic-errors.ts';

/** What strategic merge patch reads from one field's tags. */
export interface PatchMeta {
  /** Of the value; for lists, of their items. */
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | '';
  /** Empty when the field declares none. */
  readonly mergeKey: string;
}

/** The Go kind, as messages name it. */
export function kindOf(schema: Schema): string {
  switch (schema.type) {
    case 'object':
    case 'any':
    case 'int-or-string':
      return 'struct';
    case 'map':
      return 'map';
    case 'list':
      return 'slice';
    case 'integer':
      return schema.format;
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      return 'string';
  }
}

function typeName(schema: Schema): string {
  if (schema.type === 'any') return 'RawExtension';
  return schema.type === 'object' ? (schema.name ?? '').split('.').slice(-1).join('') : '';
}

function findField(schema: Schema, key: string): Field {
  if (kindOf(schema) !== 'struct') {
    throw unclassified(
      `merging an object in json but data type is not struct, instead is: ${kindOf(schema)}`,
    );
  }
  const field = schema.type === 'object' ? (schema.fields.get(key) ?? foldedField(schema.fields, key)) : null;
  if (field) return field;
  throw unclassified(
    `unable to find api field in struct ${typeName(schema)} for the json field ${JSON.stringify(key)}`,
  );
}

function foldedField(fields: ReadonlyMap<string, Field>, key: string): Field | undefined {
  const folded = key.toLowerCase();
  for (const [name, field] of fields) if (name.toLowerCase() === folded) return field;
  return undefined;
}

function metaOf(field: Field, schema: Schema): PatchMeta {
  const strategies = field.patchStrategy ?? [];
  const [other = '', ...rest] = strategies.filter((s) => s !== 'retainKeys');
  if (rest.length > 0) throw unclassified(`unexpected patch strategy: [${strategies.join(' ')}]`);
  const strategy = other === 'merge' || other === 'replace' ? other : '';
  return { schema, strategy, mergeKey: field.patchMergeKey ?? '' };
}

export function lookupStruct(schema: Schema, key: string): PatchMeta {
  const field = findField(schema, key);
  return metaOf(field, field.schema);
}

export function lookupSlice(schema: Schema, key: string): PatchMeta {
  const field = findField(schema, key);
  if (field.schema.type !== 'list') {
    throw unclassified(`expected slice or array type, but got: ${kindOf(schema)}`);
  }
  if (field.schema.items.type === 'list') throw unclassified('unexpected slice of slice');
  return metaOf(field, field.schema.items);
}
