import { canonicalQuantity, compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import type { JsonObject } from '../../object.ts';
import { addQuantity, formatQuantity } from '../../quantity.ts';
import { isRecord } from '../../untyped.ts';
import type { Field } from '../field.ts';

const mostOptions = 10;
const above = (a: unknown, b: unknown) => (compareQuantities(a, b) ?? 0) > 0;

/** Which parts of a capacity may be asked for. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/ */
export function requestPolicy(capacity: unknown, policy: JsonObject, field: Field): void {
  const values = Array.isArray(policy['validValues']) ? policy['validValues'] : [];
  const range = policy['validRange'];
  if (values.length > 0 && isRecord(range)) {
    const both =
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    field.forbidden(both);
    return;
  }
  const kind = values.length > 0 ? 'validValues' : isRecord(range) ? 'validRange' : undefined;
  if (kind === undefined) return;
  const byDefault = policy['default'];
  if (byDefault === undefined || byDefault === null)
    field.child('default').required(`required when ${kind} is defined`);
  else if (isRecord(range)) inRange(byDefault, capacity, range, field.child('validRange'));
  else oneOfValues(byDefault, capacity, values, field.child('validValues'));
}

function oneOfValues(byDefault: unknown, capacity: unknown, values: readonly unknown[], field: Field): void {
  for (const [index, value] of values.entries()) {
    if (index > 0 && above(values[index - 1], value))
      field.index(index).invalid(value, 'values must be sorted in ascending order');
  }
  if (values.length > mostOptions) field.tooMany(values.length, mostOptions);
  else optionsFit(capacity, values, field);
  if (!values.some((value) => compareQuantities(value, byDefault) === 0))
    field.invalid(byDefault, 'default value is not valid according to the requestPolicy');
}

function optionsFit(capacity: unknown, values: readonly unknown[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (above(value, capacity))
      field
        .index(index)
        .invalid(value, `option is larger than capacity value: ${canonicalQuantity(capacity)}`);
    const key = String(whole(value));
    if (seen.has(key)) field.index(index).duplicate(key);
    seen.add(key);
  }
}

/** Rounded up, as Kubernetes has whole numbers of a quantity. */
function whole(value: unknown): bigint {
  const quantity = parseQuantity(value);
  if (!quantity) return 0n;
  if (quantity.scale >= 0) return quantity.value * 10n ** BigInt(quantity.scale);
  const unit = 10n ** BigInt(-quantity.scale);
  const floor = quantity.value / unit;
  return quantity.value % unit > 0n ? floor + 1n : floor;
}

function sum(a: unknown, b: unknown): string {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left && right ? formatQuantity(addQuantity(left, right)) : '0';
}

function inRange(byDefault: unknown, capacity: unknown, range: JsonObject, field: Field): void {
  const { min, max, step } = range;
  const shown = canonicalQuantity;
  if (min === undefined || min === null) {
    field.child('min').required('required when validRange is defined');
    return;
  }
  if (above(min, capacity))
    field.child('min').invalid(min, `min is larger than capacity value: ${shown(capacity)}`);
  if (above(min, byDefault)) field.child('min').invalid(byDefault, `default is less than min: ${shown(min)}`);
  if (max !== undefined && max !== null) {
    const path = field.child('max');
    if (above(min, max)) path.invalid(min, `min is larger than max: ${shown(max)}`);
    if (above(max, capacity)) path.invalid(max, `max is larger than capacity value: ${shown(capacity)}`);
    if (above(byDefault, max)) path.invalid(byDefault, `default is more than max: ${shown(max)}`);
  }
  if (step === undefined || step === null) return;
  const path = field.child('step');
  const first = sum(min, step);
  if (above(first, capacity))
    path.invalid(step, `one step ${first} is larger than capacity value: ${shown(capacity)}`);
  for (const value of max === undefined || max === null ? [byDefault] : [byDefault, max]) {
    const width = whole(step);
    if (width !== 0n && (whole(value) - whole(min)) % width !== 0n)
      path.invalid(value, `value is not a multiple of a given step (${shown(step)}) from (${shown(min)})`);
  }
}
