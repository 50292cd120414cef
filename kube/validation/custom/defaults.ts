import { Budget, perRequest } from '../../cel/rule.ts';
import { validateRules } from '../../cel/validate.ts';
import type { StatusCause } from '../../status.ts';
import { isRecord } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { embeddedCauses } from './embedded.ts';
import { validateSchema } from './schema.ts';

type Rules = Record<string, unknown>;

const deepest = 100;

/**
 * Tells at `field` where defaults in a sound schema break it.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting
 */
export function defaults(schema: unknown, field: Field): void {
  const budget = budgets.get(field.causes) ?? new Budget(perRequest);
  budgets.set(field.causes, budget);
  visit(schema, field.path, { field, budget }, 0);
}

/** For the rules of all defaults of one object, by where the causes about it go. */
const budgets = new WeakMap<StatusCause[], Budget>();

interface To {
  field: Field;
  budget: Budget;
}

function visit(schema: unknown, path: string, to: To, depth: number): void {
  if (!isRecord(schema) || depth > deepest) return;
  const value = schema['default'];
  if (value !== undefined && value !== null)
    to.field.takeAll(ofDefault(value, schema, { path: `${path}.default`, budget: to.budget }));
  visit(schema['items'], `${path}.items`, to, depth + 1);
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  for (const [name, one] of Object.entries(properties))
    visit(one, `${path}.properties[${name}]`, to, depth + 1);
}

function ofDefault(
  value: unknown,
  schema: Rules,
  { path, budget }: { path: string; budget: Budget },
): StatusCause[] {
  if (hasUnknown(value, schema)) {
    const message = `Invalid value: ${JSON.stringify(value)}: must not have unknown fields`;
    return [{ reason: 'FieldValueInvalid', message, field: path }];
  }
  const at = (causes: StatusCause[]) =>
    causes.map((cause) => ({ ...cause, field: below(path, cause.field ?? '') }));
  const embedded = embeddedCauses(value, schema);
  if (embedded.length > 0) return at(embedded);
  // Messages name no field here, as for a value that stands by itself; an item is a field of it.
  const found = validateSchema(value, schema, '');
  if (found.length > 0) return at(found.map((cause) => ({ ...cause, field: asChild(cause.field ?? '') })));
  return at(validateRules(value, undefined, schema, { budget }));
}

const asChild = (field: string) => (field.startsWith('[') ? `.${field}` : field);

function below(path: string, field: string): string {
  if (field === '' || field === '<nil>') return path;
  return /^[.[]/.test(field) ? `${path}${field}` : `${path}.${field}`;
}

function hasUnknown(value: unknown, schema: unknown, kept = false): boolean {
  if (!isRecord(schema)) return false;
  const keeps = kept || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) return value.some((item) => hasUnknown(item, schema['items'], keeps));
  if (!isRecord(value) || keeps) return false;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const more = schema['additionalProperties'];
  return Object.entries(value).some(([name, item]) => {
    if (Object.hasOwn(properties, name)) return hasUnknown(item, properties[name]);
    return more === undefined || more === false || (isRecord(more) && hasUnknown(item, more));
  });
}
