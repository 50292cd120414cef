import {
  compareQuantity,
  formatQuantity,
  parseQuantity as parse,
  type Quantity,
  QuantityError,
  scaledQuantity,
} from '../quantity.ts';
import { withoutBlanks } from '../trim.ts';

/** Undefined when `value` is no quantity: what validation says about it comes elsewhere. */
export function parseQuantity(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** As the API writes it back: `1000m` is `1`, `1024Mi` is `1Gi`. What is no quantity stays as it is. */
export function canonicalQuantity(value: unknown, milli = false): unknown {
  const parsed = parseQuantity(typeof value === 'string' ? withoutBlanks(value) : value);
  if (!parsed) return value;
  return formatQuantity(
    milli && parsed.scale < -3
      ? { value: scaledQuantity(parsed, -3), scale: -3, format: parsed.format }
      : parsed,
  );
}

/** Negative, zero or positive; undefined when either is no quantity. */
export function compareQuantities(a: unknown, b: unknown): number | undefined {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left && right ? compareQuantity(left, right) : undefined;
}
