import { DecodeError, EncodeError } from './errors.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

/** metav1.Time, MicroTime and Duration: on the wire Timestamp{seconds=1, nanos=2} and int64 nanoseconds. */

/** An RFC 3339 string, with six digits of fraction for MicroTime; null for the empty message, Go's zero time. */
export function readTime(reader: Reader, micro: boolean): string | null {
  if (reader.done) return null;
  let seconds = 0;
  let nanos = 0;
  while (!reader.done) {
    const key = reader.key();
    if (key === 8) seconds = reader.int64();
    else if (key === 16) nanos = reader.int32();
    else reader.skip(key & 7);
  }
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) {
    throw new DecodeError('Time.MarshalJSON: year outside of range [0,9999]');
  }
  const whole = date.toISOString().slice(0, 19);
  const fraction = String(Math.trunc(nanos / 1000)).padStart(6, '0');
  return micro ? `${whole}.${fraction}Z` : `${whole}Z`;
}

const fractions = /\.(\d+)/;

export function writeTime(writer: Writer, value: unknown, micro: boolean): void {
  if (value === null || value === undefined) return;
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw new EncodeError(`cannot encode ${JSON.stringify(value)} as a time`);
  const digits = micro ? (fractions.exec(value as string)?.[1] ?? '') : '';
  writer.varint(Number(digits.slice(0, 6).padEnd(6, '0')) * 1000);
  writer.key(2, 0);
  writer.varint(Math.floor(ms / 1000));
  writer.key(1, 0);
}

export function readDuration(reader: Reader): string {
  let nanos = 0;
  while (!reader.done) {
    const key = reader.key();
    if (key === 8) nanos = reader.int64();
    else reader.skip(key & 7);
  }
  return formatDuration(nanos);
}

/** As Go prints a duration: 1h0m0s, 1.5s, 20ms, 0s. */
export function formatDuration(nanos: number): string {
  const size = Math.abs(nanos);
  const sign = nanos < 0 ? '-' : '';
  if (size === 0) return '0s';
  if (size < 1e3) return `${sign}${size}ns`;
  if (size < 1e6) return `${sign}${size / 1e3}µs`;
  if (size < 1e9) return `${sign}${size / 1e6}ms`;
  const minutes = Math.floor(size / 60e9);
  const seconds = Number(((size - minutes * 60e9) / 1e9).toFixed(9));
  if (minutes === 0) return `${sign}${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${hours}h${minutes % 60}m${seconds}s`;
}

const units: Readonly<Record<string, number>> = {
  h: 3600e9,
  m: 60e9,
  s: 1e9,
  ms: 1e6,
  us: 1e3,
  µs: 1e3,
  ns: 1,
};

export function writeDuration(writer: Writer, value: unknown): void {
  const textual = typeof value === 'string' ? value : '0s';
  let nanos = 0;
  for (const part of textual.replace(/^[-+]/, '').matchAll(/(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)/gy)) {
    nanos += Math.round(Number(part[1]) * (units[part[2] ?? ''] ?? 0));
  }
  writer.varint(textual.startsWith('-') ? -nanos : nanos);
  writer.key(1, 0);
}
