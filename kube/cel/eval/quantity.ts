import { compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import { RunError } from './budget.ts';
import { int } from './operators.ts';
import type { Run } from './run.ts';
import { Semver } from './semver.ts';
import { noOverload, Opaque, type Value } from './values.ts';

/** A Kubernetes quantity, as `value` times a power of ten. */
class Quantity extends Opaque {
  readonly type = 'kubernetes.Quantity';
  readonly value: bigint;
  readonly scale: number;

  constructor(value: bigint, scale: number) {
    super();
    this.value = value;
    this.scale = scale;
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
  return new Quantity(parsed.value, parsed.scale);
}

function quantity(value: Value): Quantity {
  if (value instanceof Quantity) return value;
  throw noOverload();
}

function whole({ value, scale }: Quantity): bigint | undefined {
  if (scale >= 0) return scale > longest ? undefined : value * 10n ** BigInt(scale);
  if (scale < -longest) return undefined;
  const unit = 10n ** BigInt(-scale);
  return value % unit === 0n ? value / unit : undefined;
}

function sum(a: Value, b: Value, sign: bigint): Quantity {
  const first = quantity(a);
  const second = typeof b === 'bigint' ? new Quantity(b, 0) : quantity(b);
  const scale = Math.min(first.scale, second.scale);
  if (Math.max(first.scale, second.scale) - scale > longest) throw new RunError('quantity out of range');
  const at = (one: Quantity) => one.value * 10n ** BigInt(one.scale - scale);
  return new Quantity(at(first) + sign * at(second), scale);
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
  isInteger: (_, of) => {
    const value = whole(quantity(of));
    return value !== undefined && BigInt.asIntN(64, value) === value;
  },
  asInteger: (_, of) => {
    const value = whole(quantity(of));
    if (value === undefined) throw new RunError('cannot convert value to integer');
    return int(value);
  },
  asApproximateFloat: (_, of) => Number(`${quantity(of).value}e${quantity(of).scale}`),
  sign: (_, of) => BigInt(quantity(of).compare(new Quantity(0n, 0))),
  add: (_, a, b) => sum(a, b, 1n),
  sub: (_, a, b) => sum(a, b, -1n),
  isGreaterThan: (_, a, b) => order(a, b) > 0,
  isLessThan: (_, a, b) => order(a, b) < 0,
  compareTo: (_, a, b) => BigInt(Math.sign(order(a, b))),
};
