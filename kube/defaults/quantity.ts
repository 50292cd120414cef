/**
 * A resource quantity in billionths of its unit, as far as Kubernetes keeps them.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export interface Quantity {
  nanos: bigint;
  format: 'decimal' | 'binary' | 'exponent';
}

const one = 1_000_000_000n;
const decimal: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const decimalSuffixes = Object.entries(decimal).sort((a, b) => b[1] - a[1]);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;
const maxBinary = ((1n << 63n) - 1n) * one;

/** Undefined when `text` is not a quantity. */
export function parseQuantity(value: unknown): Quantity | undefined {
  const match = pattern.exec(
    typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '',
  );
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  if (exponent !== undefined && Math.abs(Number(exponent)) > 60) return undefined;
  const binary = suffix.endsWith('i') ? binarySuffixes.indexOf(suffix) : 0;
  const power = exponent === undefined ? (decimal[suffix] ?? 0) : Number(exponent);
  const scale = power - fraction.length + 9;
  let nanos = BigInt(whole + fraction) * 1024n ** BigInt(binary);
  nanos = scale >= 0 ? nanos * 10n ** BigInt(scale) : ceilDivide(nanos, 10n ** BigInt(-scale));
  if (binary > 0 && nanos > maxBinary) nanos = maxBinary;
  const format = exponent !== undefined ? 'exponent' : binary > 0 ? 'binary' : 'decimal';
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** Away from zero to thousandths, which resource lists cannot be finer than. */
export function roundToMilli(quantity: Quantity): Quantity {
  const { nanos } = quantity;
  const up = ceilDivide(nanos < 0n ? -nanos : nanos, 1_000_000n) * 1_000_000n;
  return { ...quantity, nanos: nanos < 0n ? -up : up };
}

export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const size = nanos < 0n ? -nanos : nanos;
  if (format === 'binary' && size >= 1024n * one && size % one === 0n) return formatBinary(nanos / one);
  for (const [suffix, power] of decimalSuffixes) {
    const unit = 10n ** BigInt(power + 9);
    if (size % unit !== 0n) continue;
    const shown = format === 'exponent' ? (power === 0 ? '' : `e${power}`) : suffix;
    return `${nanos / unit}${shown}`;
  }
  return '0';
}

function formatBinary(value: bigint): string {
  let left = value;
  let step = 0;
  while (step < binarySuffixes.length - 1 && left % 1024n === 0n) {
    left /= 1024n;
    step++;
  }
  return `${left}${binarySuffixes[step]}`;
}

/** As the API writes it back: `1000m` is `1`, `1024Mi` is `1Gi`. What is no quantity stays as it is. */
export function canonicalQuantity(value: unknown, milli = false): unknown {
  const parsed = parseQuantity(value);
  if (!parsed) return value;
  return formatQuantity(milli ? roundToMilli(parsed) : parsed);
}

/** Negative, zero or positive; undefined when either is not a quantity. */
export function compareQuantities(a: unknown, b: unknown): number | undefined {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  if (!left || !right) return undefined;
  return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
}
