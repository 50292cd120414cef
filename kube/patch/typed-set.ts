import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { FieldSet } from './fields.ts';
import { fieldElement } from './path-element.ts';
import {
  asList,
  asMap,
  atomOf,
  entrySchema,
  ItemError,
  isAtomic,
  isDeclared,
  itemElement,
  itemSchema,
} from './typed-schema.ts';

/** Every leaf and every list item that the object mentions. */
export function fieldSetOf(object: Json, schema: Schema): FieldSet {
  const set = new FieldSet();
  collect(object, schema, set);
  return set;
}

/** Puts what is below the value into `below`; answers whether the value itself is a leaf. */
function collect(value: Json, schema: Schema, below: FieldSet): boolean {
  const atom = atomOf(schema, value) ?? 'map';
  if (atom === 'scalar' || isAtomic(schema)) return true;
  if (atom === 'list') {
    // Lists in schemaless places are atomic.
    if (schema.type !== 'list') return true;
    collectItems(asList(value) ?? [], schema, below);
    return false;
  }
  for (const [key, item] of Object.entries(asMap(value) ?? {})) {
    const child = new FieldSet();
    const leaf = collect(item, entrySchema(schema, key) ?? { type: 'any' }, child);
    const emptyMap = asMap(item) !== undefined && Object.keys(item as object).length === 0;
    const element = fieldElement(key);
    if (leaf || item === null || emptyMap || !isDeclared(schema, key)) below.members.add(element);
    if (child.members.size > 0 || child.children.size > 0) below.children.set(element, child);
  }
  return false;
}

function collectItems(list: Json[], schema: Schema & { type: 'list' }, below: FieldSet): void {
  const items = new Map<string, Json[]>();
  for (const item of list) {
    try {
      const element = itemElement(schema, item);
      const same = items.get(element);
      if (same) same.push(item);
      else items.set(element, [item]);
    } catch (error) {
      if (!(error instanceof ItemError)) throw error;
    }
  }
  for (const [element, [item = null, ...repeats]] of items) {
    below.members.add(element);
    if (repeats.length > 0) continue;
    const child = new FieldSet();
    collect(item, schema.items, child);
    if (child.members.size > 0 || child.children.size > 0) below.children.set(element, child);
  }
}

/** The set with every declared field above its paths as a member too: `spec` of `spec.replicas`. */
export function withNamedFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  if (set.children.size === 0) return set;
  const result = new FieldSet();
  for (const member of set.members) result.members.add(member);
  for (const [element, child] of set.children) {
    const field = element.startsWith('f:') ? element.slice(2) : undefined;
    if (field !== undefined && schema && isDeclared(schema, field)) result.members.add(element);
    let below: Schema | undefined;
    if (schema && field !== undefined) below = entrySchema(schema, field);
    else if (schema && element.startsWith('k:')) below = itemSchema(schema);
    result.children.set(element, withNamedFields(child, below));
  }
  return result;
}
