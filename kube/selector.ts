import { validateLabelValue, validateQualifiedName } from './names.ts';
import { type LabelOperator, type LabelRequirement, parseRequirements } from './selector-parser.ts';
import { badRequest } from './status.ts';

export type { LabelRequirement };

export interface LabelSelectorMatcher {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}

/** metav1.LabelSelector, as spec.selector carries it. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** The `labelSelector` query parameter. Throws StatusError 400 with kube-apiserver's text. */
export function parseLabelSelector(text: string): LabelSelectorMatcher {
  const parsed = parseRequirements(text);
  for (const { key, operator, values } of parsed) requireValid(key, operator, values);
  return matcher(parsed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

export const selectsNothing: LabelSelectorMatcher = { requirements: [], matches: () => false };

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * A selector inside an object. As the API defines it: absent (null) selects nothing, empty selects everything.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/
 */
export function labelSelectorFromObject(selector: LabelSelector | null | undefined): LabelSelectorMatcher {
  if (selector === undefined || selector === null) return selectsNothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requireValid(key, '=', [value]);
    requirements.push({ key, operator: '=', values: [value] });
  }
  for (const { key, operator: name, values = [] } of selector.matchExpressions ?? []) {
    const operator = Object.hasOwn(objectOperators, name) ? objectOperators[name] : undefined;
    if (!operator) throw badRequest(`"${name}" is not a valid label selector operator`);
    requireValid(key, operator, values);
    requirements.push({ key, operator, values });
  }
  return matcher(requirements);
}

/** For Services and ReplicationControllers, whose selector is a plain map: an empty one selects everything. */
export function labelSelectorFromSet(set: Readonly<Record<string, string>>): LabelSelectorMatcher {
  return matcher(Object.entries(set).map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

function matcher(requirements: readonly LabelRequirement[]): LabelSelectorMatcher {
  return { requirements, matches: (labels) => requirements.every((r) => holds(r, labels)) };
}

function holds(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const have = parseInt64(value);
      const bound = parseInt64(values[0]);
      return have !== undefined && bound !== undefined && (operator === 'gt' ? have > bound : have < bound);
    }
  }
}

function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function requireValid(key: string, operator: LabelOperator, values: readonly string[]): void {
  const errors: string[] = [];
  const fail = (path: string, value: string, detail: string) =>
    errors.push(`${path}: Invalid value: ${value}: ${detail}`);
  const keyMessages = validateQualifiedName(key);
  if (keyMessages.length > 0) fail('key', JSON.stringify(key), keyMessages.join('; '));
  const list = `[]string{${values.map((v) => JSON.stringify(v)).join(', ')}}`;
  const set = operator === 'in' || operator === 'notin';
  if (set && values.length === 0) {
    fail('values', list, "for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    fail('values', list, 'values set must be empty for exists and does not exist');
  }
  values.forEach((value, i) => {
    if ((operator === 'gt' || operator === 'lt') && parseInt64(value) === undefined) {
      fail(`values[${i}]`, JSON.stringify(value), "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  });
  values.forEach((value, i) => {
    const messages = validateLabelValue(value);
    if (messages.length > 0) fail(`values[${i}][${key}]`, JSON.stringify(value), messages.join('; '));
  });
  if (errors.length === 0) return;
  const text = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
  throw badRequest(`unable to parse requirement: ${text}`);
}

export interface FieldRequirement {
  field: string;
  op: '=' | '!=';
  value: string;
}

/** The `fieldSelector` query parameter: `a=b,c!=d`; `\` escapes `,`, `=` and itself in values. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const found = /!=|==|=/.exec(term);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const value = unescapeFieldValue(term.slice(found.index + found[0].length));
    requirements.push({ field: term.slice(0, found.index), op: found[0] === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

/** The inverse of what parseFieldSelector undoes, for clients that write selectors. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function splitTerms(text: string): string[] {
  return text.match(/(?:\\[\s\S]?|[^\\,])+/g) ?? [];
}

function unescapeFieldValue(text: string): string {
  return text.replace(/\\([\s\S]?)|[,=]/gu, (all, escaped?: string) => {
    if (escaped === undefined) {
      throw badRequest(`invalid field selector: unescaped character in value: ${all.codePointAt(0)}`);
    }
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw badRequest(`invalid field selector: invalid escape sequence: ${all}`);
    }
    return escaped;
  });
}
