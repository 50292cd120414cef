const words: ReadonlyMap<string, boolean | null> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((w) => [w, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (w) => [w, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((w) => [w, null] as const),
]);
const floatPattern = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** Numbers that JSON cannot say. */
const notJson = /^(?:([-+]?)\.(?:inf|Inf|INF)|(\.(?:nan|NaN|NAN)))$/;

/**
 * The value of an unquoted YAML scalar under Go's YAML rules: `yes` is true, `014` is 12, `1_000` is 1000, while
 * dates and `12:30:45` stay text. Undefined when it is text. Integers as decodeJson gives them.
 */
export function resolvePlainScalar(text: string): boolean | null | number | undefined {
  const word = words.get(text);
  if (word !== undefined) return word;
  const beyond = notJson.exec(text);
  if (beyond) throw new Error(`json: unsupported value: ${beyond[2] ? 'NaN' : `${beyond[1] || '+'}Inf`}`);
  const first = text.charAt(0);
  if (first === '.') return floatPattern.test(text) ? finite(Number(text)) : undefined;
  if (!/^[-+0-9]/.test(first)) return undefined;
  const plain = text.replaceAll('_', '');
  return integer(plain) ?? (floatPattern.test(plain) ? finite(Number(plain)) : undefined);
}

const radixPattern = /^([-+]?)0(?:([xX])([0-9a-fA-F]+)|([bB])([01]+)|[oO]?([0-7]+))$/;

/** In decimal digits, with a sign: what is longer is a double at most, and to read megabytes of digits exactly takes seconds. */
const longest = 21;

function integer(text: string): number | undefined {
  let magnitude: bigint;
  const radix = radixPattern.exec(text);
  if (radix) {
    const [, , hex, hexDigits, binary, bits, octal] = radix;
    magnitude = BigInt(hex ? `0x${hexDigits}` : binary ? `0b${bits}` : `0o${octal}`);
  } else if (text.length > longest) {
    return undefined;
  } else if (/^[-+]?(0|[1-9][0-9]*)$/.test(text)) {
    magnitude = BigInt(text.replace(/^[-+]/, ''));
  } else return undefined;
  const value = text.startsWith('-') ? -magnitude : magnitude;
  const double = Number(value);
  // Longer than a double is long it is text, as a fraction is.
  if (!Number.isFinite(double)) return undefined;
  if (Number.isSafeInteger(double)) return double;
  // As in JSON: what a double is written back as needs no bigint.
  if (String(double) === value.toString()) return double;
  return BigInt.asIntN(64, value) === value ? (value as unknown as number) : double;
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
