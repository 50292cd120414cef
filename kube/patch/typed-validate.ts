import { goType } from '../go-words.ts';
import type { Json } from '../object.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { isRecord } from '../untyped.ts';
import { fieldElement, formatElement } from './path-element.ts';
import { goText } from './strategic-errors.ts';
import { atomOf, entrySchema, ItemError, isAtomic, isDeclared, itemElement } from './typed-schema.ts';

/** A value that its schema does not admit; the message joins every place as Kubernetes does. */
export class TypedError extends Error {
  constructor(places: readonly string[]) {
    const sorted = [...places].sort();
    const [first = ''] = sorted;
    super(sorted.length === 1 ? first : ['errors:', ...sorted.map((p) => `  ${p}`)].join('\n'));
    this.name = 'TypedError';
  }
}

/** For applied objects: types, known fields, no repeated list keys. Throws TypedError. */
export function validate(value: Json, schema: Schema): void {
  const errors: string[] = [];
  visit(value, schema, '', errors);
  if (errors.length > 0) throw new TypedError(errors);
}

function visit(value: Json, schema: Schema, path: string, errors: string[]): void {
  if (value === null) return;
  switch (atomOf(schema, value)) {
    case 'scalar': {
      const wrong = scalarProblem(value, schema);
      if (wrong) errors.push(`${path}: ${wrong}`);
      return;
    }
    case 'list':
      if (!Array.isArray(value)) errors.push(`${path}: expected list, got &{${goText(value)}}`);
      else if (schema.type === 'list') visitList(value, schema, path, errors);
      return;
    default:
      if (!isRecord(value)) errors.push(`${path}: expected map, got &{${goText(value)}}`);
      else visitMap(value as Record<string, Json>, schema, path, errors);
  }
}

function visitMap(map: Record<string, Json>, schema: Schema, path: string, errors: string[]): void {
  for (const [key, value] of Object.entries(map)) {
    const type = entrySchema(schema, key);
    if (type === undefined && !isDeclared(schema, key)) {
      errors.push(`${path}.${key}: field not declared in schema`);
      return;
    }
    if (type) visit(value, type, `${path}${formatElement(fieldElement(key))}`, errors);
  }
}

function visitList(list: Json[], schema: ListSchema, path: string, errors: string[]): void {
  if (isAtomic(schema)) {
    list.forEach((item, i) => {
      visit(item, schema.items, `${path}[${i}]`, errors);
    });
    return;
  }
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    let element: string;
    try {
      element = itemElement(schema, item);
    } catch (error) {
      if (!(error instanceof ItemError)) throw error;
      errors.push(`${path}: element ${i}: ${error.message}`);
      return;
    }
    const shown = formatElement(element);
    if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${shown}`);
    seen.add(element);
    visit(item, schema.items, `${path}${shown}`, errors);
  }
}

function scalarProblem(value: Json, schema: Schema): string | undefined {
  const type: string = typeof value;
  switch (schema.type) {
    case 'integer':
    case 'number':
      if (type === 'number' || type === 'bigint') return undefined;
      return `expected numeric (int or float), got ${goType(value)}`;
    case 'boolean':
      return type === 'boolean' ? undefined : `expected boolean, got &{${goText(value)}}`;
    case 'string':
      if (schema.format !== undefined && schema.format !== 'byte') break;
      if (type === 'string') return undefined;
      return `expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`;
    default:
  }
  return type === 'object' ? `expected any scalar, got &{${goText(value)}}` : undefined;
}

/** Go's %#v, for what users get wrong: numbers, booleans, and containers. */
function goLiteral(value: Json): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goLiteral).join(', ')}}`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value as Record<string, Json>).map(
    ([k, v]) => `${JSON.stringify(k)}:${goLiteral(v)}`,
  );
  return `map[string]interface {}{${entries.join(', ')}}`;
}
