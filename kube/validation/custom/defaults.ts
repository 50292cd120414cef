import { validateRules } from '../../cel/validate.ts';
import type { StatusCause } from '../../status.ts';
import { isRecord } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { validateLists } from './lists.ts';
import { validateSchema } from './schema.ts';

type Rules = Record<string, unknown>;

const deepest = 100;

/**
 * Tells at `field` where defaults in a sound schema break it.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting
 */
export function defaults(schema: unknown, field: Field): void {
  visit(schema, field.path, field.causes, 0);
}

function visit(schema: unknown, path: string, causes: StatusCause[], depth: number): void {
  if (!isRecord(schema) || depth > deepest) return;
  const value = schema['default'];
  if (value !== undefined && value !== null) causes.push(...ofDefault(value, schema, `${path}.default`));
  visit(schema['items'], `${path}.items`, causes, depth + 1);
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  for (const [name, one] of Object.entries(properties))
    visit(one, `${path}.properties[${name}]`, causes, depth + 1);
}

function ofDefault(value: unknown, schema: Rules, path: string): StatusCause[] {
  if (hasUnknown(value, schema)) {
    const message = `Invalid value: ${JSON.stringify(value)}: must not have unknown fields`;
    return [{ reason: 'FieldValueInvalid', message, field: path }];
  }
  // Messages name no field here, as for a value that stands by itself.
  const found = [...validateSchema(value, schema, ''), ...validateLists(value, schema)];
  const sound = found.length > 0 ? found : validateRules(value, undefined, schema);
  return sound.map((cause) => ({ ...cause, field: below(path, cause.field ?? '') }));
}

function below(path: string, field: string): string {
  if (field === '' || field === '<nil>') return path;
  return field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}

function hasUnknown(value: unknown, schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (Array.isArray(value)) return value.some((item) => hasUnknown(item, schema['items']));
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields'] === true) return false;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const more = schema['additionalProperties'];
  return Object.entries(value).some(([name, item]) => {
    if (Object.hasOwn(properties, name)) return hasUnknown(item, properties[name]);
    return more === undefined || more === false || (isRecord(more) && hasUnknown(item, more));
  });
}
