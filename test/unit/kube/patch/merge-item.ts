import type { Field, ObjectSchema, Schema } from '../../../../kube/schema/schema.ts';

const text: Schema = { type: 'string' };
const numbers: Schema = { type: 'list', items: { type: 'integer', format: 'int64' } };
const labels: Schema = { type: 'map', values: text };

function object(name: string, fields: Field[]): ObjectSchema {
  return { type: 'object', name, fields: new Map(fields.map((f) => [f.name, f])) };
}

const merge = { patchStrategy: ['merge'] };
const mergeByName = { patchStrategy: ['merge'], patchMergeKey: 'name' };

const fields = new Map<string, Field>();
/** A type with one field for every patch strategy there is. */
export const mergeItem: ObjectSchema = { type: 'object', name: 'test.MergeItem', fields };
const items: Schema = { type: 'list', items: mergeItem };

const retainKeysItem = object('test.RetainKeysItem', [
  { name: 'name', schema: text },
  { name: 'value', schema: text },
  { name: 'other', schema: text },
  { name: 'simpleMap', schema: labels },
  { name: 'mergingIntList', schema: numbers, ...merge },
  { name: 'mergingList', schema: items, ...mergeByName },
  { name: 'nonMergingList', schema: items },
]);

const all: Field[] = [
  { name: 'name', schema: text },
  { name: 'value', schema: text },
  { name: 'other', schema: text },
  { name: 'mergingList', schema: items, ...mergeByName },
  { name: 'nonMergingList', schema: items },
  { name: 'mergingIntList', schema: numbers, ...merge },
  { name: 'nonMergingIntList', schema: numbers },
  { name: 'mergeItemPtr', schema: items, ...mergeByName },
  { name: 'simpleMap', schema: labels },
  { name: 'replacingItem', schema: { type: 'any' }, patchStrategy: ['replace'] },
  { name: 'jsonItem', schema: { type: 'any' } },
  { name: 'retainKeysMap', schema: retainKeysItem, patchStrategy: ['retainKeys'] },
  {
    name: 'retainKeysMergingList',
    schema: items,
    patchStrategy: ['merge', 'retainKeys'],
    patchMergeKey: 'name',
  },
];
for (const field of all) fields.set(field.name, field);
