import { deepEqual } from '../deep.ts';
import type { StatusCause } from '../status.ts';
import { getOwn, isRecord } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { Budget, CostExceeded, compileRule, optional, perRequest } from './rule.ts';
import { toCel } from './value.ts';

type Rules = Record<string, unknown>;

interface Rule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A value with the one that it replaces; `same` says that an ancestor or itself did not change. */
interface Node {
  value: unknown;
  old: unknown;
  same: boolean;
  /** For all rules of the object. */
  budget: Budget;
  /** What is let pass. */
  passed: StatusCause[];
}

/**
 * The causes for which a custom resource breaks its schema's x-kubernetes-validations, root first. `old` is undefined
 * on create. What was broken before and did not change is let pass, and told to `warn` as kube-apiserver warns of it.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export function validateRules(
  value: unknown,
  old: unknown,
  schema: unknown,
  {
    budget = new Budget(perRequest),
    warn,
  }: { budget?: Budget; warn?: ((text: string) => void) | undefined } = {},
): StatusCause[] {
  if (!hasRules(schema)) return [];
  const root = new Field([]);
  const same = old !== undefined && deepEqual(value, old);
  const passed: StatusCause[] = [];
  visit({ value, old, same, budget, passed }, schema, root);
  if (warn) for (const { field, message } of passed) warn(`${field}: ${message}`);
  return root.causes;
}

const withRules = new WeakMap<object, boolean>();

/** Most schemas have none, and need not be walked. */
export function hasRules(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  const { properties, items, additionalProperties, allOf } = schema;
  const below = [items, additionalProperties, ...(Array.isArray(allOf) ? allOf : [])];
  if (isRecord(properties)) below.push(...Object.values(properties));
  const found = rulesOf(schema).length > 0 || below.some(hasRules);
  withRules.set(schema, found);
  return found;
}

function rulesOf(schema: Rules): Rule[] {
  const rules = schema['x-kubernetes-validations'];
  return Array.isArray(rules) ? (rules.filter(isRecord) as unknown as Rule[]) : [];
}

function visit(node: Node, schema: unknown, field: Field): void {
  const { value, old } = node;
  if (!isRecord(schema) || value === undefined || value === null || !hasRules(schema)) return;
  const rules = rulesOf(schema);
  if (rules.length > 0) applyRules(node, schema, rules, field);
  const { allOf } = schema;
  if (Array.isArray(allOf)) for (const one of allOf) visit({ ...node, same: false }, one, field);
  if (Array.isArray(value)) {
    const before = correlation(Array.isArray(old) ? old : [], schema);
    for (const [index, item] of value.entries()) {
      visit(next(node, item, before(item)), schema['items'], field.index(index));
    }
    return;
  }
  if (!isRecord(value)) return;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const before = isRecord(old) ? old : {};
  for (const name of Object.keys(value).sort()) {
    const below = next(node, value[name], getOwn(before, name));
    if (Object.hasOwn(properties, name)) visit(below, properties[name], field.child(name));
    else visit(below, schema['additionalProperties'], field.key(name));
  }
}

function next(parent: Node, value: unknown, old: unknown): Node {
  return { ...parent, value, old, same: old === undefined ? parent.same : deepEqual(value, old) };
}

/** The item of the old list that stands for a new one: only lists with keys tell. */
export function correlation(before: readonly unknown[], schema: Rules): (item: unknown) => unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || before.length === 0) return () => undefined;
  const listed = schema['x-kubernetes-list-map-keys'];
  const keys = Array.isArray(listed) ? listed.map(String) : [];
  const textOf = (item: unknown) =>
    isRecord(item) ? keyText(keys.map((key) => getOwn(item, key))) : undefined;
  const byText = new Map<string, unknown>();
  for (const other of before) {
    const text = textOf(other);
    if (text !== undefined && !byText.has(text)) byText.set(text, other);
  }
  return (item) => {
    const text = textOf(item);
    return text === undefined ? undefined : byText.get(text);
  };
}

/** One for all keys that are equal, and for no others: a list of very many items is walked through once. Undefined: no key. */
function keyText(values: readonly unknown[]): string | undefined {
  if (values.some((value) => typeof value === 'object' && value !== null)) return undefined;
  return JSON.stringify(values.map((value) => (typeof value === 'string' ? `"${value}` : String(value))));
}

/** False once nothing is left to judge more by. */
function applyRules(node: Node, schema: Rules, rules: readonly Rule[], field: Field): void {
  if (node.budget.isSpent) return;
  const self = toCel(node.value, schema);
  const oldSelf = node.old === undefined || node.old === null ? undefined : toCel(node.old, schema);
  for (const rule of rules) {
    const program = compileRule(rule.rule);
    if (program instanceof Error) {
      field.invalid(schema['type'], `rule compile error: ${program.message}`);
      continue;
    }
    if (program.usesOldSelf && oldSelf === undefined && rule.optionalOldSelf !== true) continue;
    const variables = { self, oldSelf: rule.optionalOldSelf === true ? optional(oldSelf) : oldSelf };
    let holds: unknown;
    try {
      holds = node.budget.within((budget) => program.run(variables, budget));
    } catch (error) {
      field.invalid(schema['type'], failure(error, rule, node.budget));
      if (!(error instanceof CostExceeded)) continue;
      node.budget.spend();
      return;
    }
    if (holds === true) continue;
    const told = node.same && !program.usesOldSelf ? field.into(node.passed) : field;
    refuse(rule, describe(rule, { self, oldSelf }, node.budget), node.value, told);
  }
}

function failure(error: unknown, rule: Rule, budget: Budget): string {
  const told = (rule.message || rule.rule).trim();
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CostExceeded) {
    if (budget.isSpent)
      return 'validation failed due to running out of cost budget, no further validation rules will be run';
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${told}`;
  }
  if (message.startsWith('no such overload')) {
    const words = 'call arguments did not match a supported operator, function or macro signature for rule';
    return `'${message}': ${words}: ${told}`;
  }
  return `${message} evaluating rule: ${told}`;
}

const longestMessage = 5 * 1024;

function describe(rule: Rule, variables: { self: unknown; oldSelf: unknown }, budget: Budget): string {
  const fallback = rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;
  if (!rule.messageExpression) return fallback;
  const program = compileRule(rule.messageExpression);
  if (program instanceof Error) return fallback;
  try {
    const text = budget.within((share) => program.run(variables, share));
    if (typeof text !== 'string' || text.trim() === '') return fallback;
    return text.includes('\n') || Buffer.byteLength(text) > longestMessage ? fallback : text.trim();
  } catch {
    return fallback;
  }
}

function refuse(rule: Rule, detail: string, value: unknown, at: Field): void {
  const path = rule.fieldPath?.replace(/^\./, '');
  const field = path ? (path.startsWith('[') ? at.key(path.slice(2, -2)) : at.child(path)) : at;
  if (rule.reason === 'FieldValueForbidden') field.forbidden(detail);
  else if (rule.reason === 'FieldValueRequired') field.required(detail);
  else if (rule.reason === 'FieldValueDuplicate') field.duplicateOf(value);
  else field.invalidOf(value, detail);
}
