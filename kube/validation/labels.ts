import { validateLabelValue, validateQualifiedName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { qualifiedName } from './rules.ts';

export function labels(value: unknown, field: Field): void {
  for (const [key, label] of Object.entries(record(value))) {
    qualifiedName(key, field);
    field.invalidAll(label, validateLabelValue(text(label)));
  }
}

const setOperators = ['In', 'NotIn'];
const existsOperators = ['Exists', 'DoesNotExist'];

export function labelSelector(selector: unknown, field: Field): void {
  if (!isRecord(selector)) return;
  labels(selector['matchLabels'], field.child('matchLabels'));
  for (const [index, expression] of records(selector['matchExpressions']).entries()) {
    const path = field.child('matchExpressions').index(index);
    requirementShape(expression, path);
    for (const [i, value] of strings(expression['values']).entries()) {
      path.child('values').index(i).invalidAll(value, validateLabelValue(value));
    }
  }
}

/** Operator, values and key of a requirement, as label and node selectors have them. */
export function requirementShape(expression: unknown, path: Field, more: readonly string[] = []): void {
  const operator = text(at(expression, 'operator'));
  const values = strings(at(expression, 'values'));
  if (setOperators.includes(operator)) {
    if (values.length === 0)
      path.child('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (existsOperators.includes(operator)) {
    if (values.length > 0) {
      path.child('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (more.includes(operator)) {
    if (values.length !== 1) {
      path.child('values').required("must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else path.child('operator').invalid(operator, 'not a valid selector operator');
  qualifiedName(text(at(expression, 'key')), path.child('key'));
}

/** Undefined when the selector cannot be used at all: no operator, no label key or value, values where none may be. */
export function selects(selector: unknown, target: unknown): boolean | undefined {
  if (!isRecord(selector)) return false;
  if (!isUsable(selector)) return undefined;
  const set = record(target);
  const labelOf = (key: string) => (Object.hasOwn(set, key) ? text(set[key]) : undefined);
  let matches = Object.entries(record(selector['matchLabels'])).every(
    ([key, value]) => labelOf(key) === value,
  );
  for (const expression of records(selector['matchExpressions'])) {
    const value = labelOf(text(expression['key']));
    const values = strings(expression['values']);
    const operator = text(expression['operator']);
    if (setOperators.includes(operator) ? values.length === 0 : values.length > 0) return undefined;
    if (operator === 'In') matches &&= value !== undefined && values.includes(value);
    else if (operator === 'NotIn') matches &&= value === undefined || !values.includes(value);
    else if (operator === 'Exists') matches &&= value !== undefined;
    else if (operator === 'DoesNotExist') matches &&= value === undefined;
    else return undefined;
  }
  return matches;
}

function isUsable(selector: JsonObject): boolean {
  const plain = Object.entries(record(selector['matchLabels'])).map(([key, value]) => ({
    key,
    values: [text(value)],
  }));
  const expressions = records(selector['matchExpressions']).map((expression) => ({
    key: text(expression['key']),
    values: strings(expression['values']),
  }));
  return [...plain, ...expressions].every(
    ({ key, values }) =>
      validateQualifiedName(key).length === 0 &&
      values.every((value) => validateLabelValue(value).length === 0),
  );
}

/** Whether a selector has no requirement. */
export function selectsAll(selector: unknown): boolean {
  const size = Object.keys(record(at(selector, 'matchLabels'))).length;
  return size + records(at(selector, 'matchExpressions')).length === 0;
}
