/** A duration that could not be read; the message is what Go's time.ParseDuration says. */
export class DurationError extends Error {}

const unitMillis: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** 2^63 nanoseconds. */
const longestMillis = 2 ** 63 / 1e6;

/** Go's duration syntax (`300ms`, `-1.5h`, `2h45m`) to milliseconds; `more` are units beside Go's. Throws DurationError. */
export function parseDuration(text: string, more: Readonly<Record<string, number>> = {}): number {
  if (text.length > 100) throw new DurationError(`time: invalid duration ${quote(text.slice(0, 100))}`);
  const invalid = () => new DurationError(`time: invalid duration ${quote(text)}`);
  const negative = text.startsWith('-');
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0;
  if (rest === '') throw invalid();
  let total = 0;
  while (rest !== '') {
    const [whole = '', number = ''] = /^(\d*(?:\.\d*)?)/.exec(rest) ?? [];
    if (number === '' || number === '.') throw invalid();
    rest = rest.slice(whole.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quote(text)}`);
    const units = Object.hasOwn(more, unit) ? more : unitMillis;
    const millis = Object.hasOwn(units, unit) ? units[unit] : undefined;
    if (millis === undefined) {
      throw new DurationError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    }
    total += Number(number) * millis;
    if (total >= longestMillis) throw invalid();
    rest = rest.slice(unit.length);
  }
  return negative && total !== 0 ? -total : total;
}

/** As Go quotes in these messages: bytes outside printable ASCII as \x escapes. */
function quote(text: string): string {
  const escaped = [...Buffer.from(text)].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte < 0x20 || byte >= 0x7f
      ? `\\x${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte);
  });
  return `"${escaped.join('')}"`;
}
