import type { Environment } from '@marcbachmann/cel-js';
import { compareQuantities, parseQuantity } from '../defaults/quantity.ts';

/** A Kubernetes quantity among CEL's values. */
class CelQuantity {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function parse(text: string): CelQuantity {
  if (!parseQuantity(text))
    throw new Error(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  return new CelQuantity(text);
}

function order(a: CelQuantity, b: CelQuantity): number {
  return compareQuantities(a.text, b.text) ?? 0;
}

function whole(quantity: CelQuantity): bigint | undefined {
  const parsed = parseQuantity(quantity.text);
  if (!parsed) return undefined;
  if (parsed.scale >= 0) return parsed.value * 10n ** BigInt(parsed.scale);
  const unit = 10n ** BigInt(-parsed.scale);
  return parsed.value % unit === 0n ? parsed.value / unit : undefined;
}

function approximate(quantity: CelQuantity): number {
  const parsed = parseQuantity(quantity.text);
  return parsed ? Number(parsed.value) * 10 ** parsed.scale : 0;
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library */
export function registerQuantity(env: Environment): void {
  env
    .registerType('Quantity', { ctor: CelQuantity, fields: {} })
    .registerFunction('quantity(string): Quantity', parse)
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('Quantity.isInteger(): bool', (q: CelQuantity) => whole(q) !== undefined)
    .registerFunction('Quantity.asInteger(): int', (q: CelQuantity) => {
      const value = whole(q);
      if (value === undefined) throw new Error('cannot convert value to integer');
      return value;
    })
    .registerFunction('Quantity.asApproximateFloat(): double', approximate)
    .registerFunction('Quantity.sign(): int', (q: CelQuantity) => BigInt(order(q, new CelQuantity('0'))))
    .registerFunction(
      'Quantity.isGreaterThan(Quantity): bool',
      (a: CelQuantity, b: CelQuantity) => order(a, b) > 0,
    )
    .registerFunction(
      'Quantity.isLessThan(Quantity): bool',
      (a: CelQuantity, b: CelQuantity) => order(a, b) < 0,
    )
    .registerFunction('Quantity.compareTo(Quantity): int', (a: CelQuantity, b: CelQuantity) =>
      BigInt(order(a, b)),
    );
}
