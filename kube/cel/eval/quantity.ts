import { compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import { isShortQuantity } from '../../quantity.ts';
import { RunError } from './budget.ts';
import type { Run } from './run.ts';
import { Semver } from './semver.ts';
import { noOverload, Opaque, type Value } from './values.ts';

/** A Kubernetes quantity, as `value` times a power of ten. `exact`: of more digits than Go keeps in an int64, which is no integer to it. */
class Quantity extends Opaque {
  readonly type = 'kubernetes.Quantity';
  readonly value: bigint;
  readonly scale: number;
  readonly exact: boolean;

  constructor(value: bigint, scale: number, exact = false) {
    super();
    this.value = value;
    this.scale = scale;
    this.exact = exact;
  }

  get key(): string {
    return `${this.value}e${this.scale}`.replace(/^(-?\d*?)(0+)e(-?\d+)$/, (_, digits, zeros, scale) =>
      digits === '' || digits === '-' ? '0e0' : `${digits}e${Number(scale) + zeros.length}`,
    );
  }

  compare(other: Quantity): number {
    return compareQuantities(this.text, other.text) ?? 0;
  }

  get text(): string {
    return `${this.value}e${this.scale}`;
  }
}

/** Beyond that a number is not worth its digits. */
const longest = 1000;

function read(text: Value): Quantity {
  if (typeof text !== 'string') throw noOverload();
  const parsed = text.length > longest ? undefined : parseQuantity(text);
  if (!parsed)
    throw new RunError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  return new Quantity(parsed.value, parsed.scale, !isShortQuantity(text));
}

function quantity(value: Value): Quantity {
  if (value instanceof Quantity) return value;
  throw noOverload();
}

const isInt64 = (value: bigint) => BigInt.asIntN(64, value) === value;

/** Undefined where Go finds no int64: of what has a fraction, be it zero, and of what it keeps in another form. */
function whole({ value, scale, exact }: Quantity): bigint | undefined {
  if (exact || scale < 0 || scale > longest) return undefined;
  const all = value * 10n ** BigInt(scale);
  return isInt64(all) ? all : undefined;
}

function sum(a: Value, b: Value, sign: bigint): Quantity {
  const first = quantity(a);
  const second = typeof b === 'bigint' ? new Quantity(b, 0) : quantity(b);
  const isShort = !first.exact && !second.exact;
  if (isShort && second.value === 0n) return first;
  if (isShort && first.value === 0n) return new Quantity(sign * second.value, second.scale);
  const scale = Math.min(first.scale, second.scale);
  if (Math.max(first.scale, second.scale) - scale > longest) throw new RunError('quantity out of range');
  const at = (one: Quantity) => one.value * 10n ** BigInt(one.scale - scale);
  const all = at(first) + sign * at(second);
  return new Quantity(all, scale, !isShort || ![at(first), at(second), all].every(isInt64));
}

/** Of quantities and of versions, which are compared by the same names. */
function order(a: Value, b: Value): number {
  if (a instanceof Semver && b instanceof Semver) return a.compare(b);
  return quantity(a).compare(quantity(b));
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library */
export const quantities: Readonly<Record<string, Run>> = {
  quantity: (budget, text) => {
    if (typeof text === 'string') budget.text(text);
    return read(text);
  },
  isQuantity: (budget, text) => {
    if (typeof text === 'string') budget.text(text);
    return typeof text === 'string' && text.length <= longest && parseQuantity(text) !== undefined;
  },
  isInteger: (_, of) => whole(quantity(of)) !== undefined,
  asInteger: (_, of) => {
    const value = whole(quantity(of));
    if (value === undefined) throw new RunError('cannot convert value to integer');
    return value;
  },
  asApproximateFloat: (_, of) => Number(`${quantity(of).value}e${quantity(of).scale}`),
  sign: (_, of) => BigInt(quantity(of).compare(new Quantity(0n, 0))),
  add: (_, a, b) => sum(a, b, 1n),
  sub: (_, a, b) => sum(a, b, -1n),
  isGreaterThan: (_, a, b) => order(a, b) > 0,
  isLessThan: (_, a, b) => order(a, b) < 0,
  compareTo: (_, a, b) => BigInt(Math.sign(order(a, b))),
};
