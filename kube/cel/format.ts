/** CEL's `format`: %s, %d, %f, %e, %b, %o, %x, %X. https://pkg.go.dev/github.com/google/cel-go/ext#Strings */
export function formatString(template: string, args: readonly unknown[]): string {
  let next = 0;
  return template.replace(/%(%|(?:\.(\d+))?([a-zA-Z]))/g, (all, _rest, precision, verb) => {
    if (all === '%%') return '%';
    if (next >= args.length) throw new Error(`index ${next} out of range`);
    return formatOne(verb as string, args[next++], precision === undefined ? 6 : Number(precision));
  });
}

function formatOne(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      return String(value);
    case 'f':
      return Number(value).toFixed(precision);
    case 'e':
      return Number(value)
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : BigInt(value as bigint).toString(2);
    case 'o':
      return BigInt(value as bigint).toString(8);
    case 'x':
    case 'X': {
      const hex =
        typeof value === 'string' ? Buffer.from(value).toString('hex') : BigInt(value as bigint).toString(16);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value === null) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([key, item]) => `${key}: ${shown(item)}`);
  return `{${entries.sort().join(', ')}}`;
}
