import { timeError } from '../../schema/mismatch.ts';
import { timeZoneFormat, timeZoneProblem } from '../../time-zone.ts';
import { type Budget, RunError } from './budget.ts';
import type { Run } from './run.ts';
import { belowMillis, Duration, noOverload, Timestamp, type Value } from './values.ts';

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go's duration, exactly; undefined for what is none, or is too long for one. */
export function readDuration(text: string): Duration | undefined {
  if (text.length > 100 || !/^[-+]?(0|((\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text))
    return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(
    /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const size = units[unit] ?? 0n;
    nanos += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
  }
  const all = text.startsWith('-') ? -nanos : nanos;
  return BigInt.asIntN(64, all) === all ? new Duration(all) : undefined;
}

/** In seconds, and no more of them than a double holds, as CEL has them of Go. */
export function showDuration({ nanos }: Duration): string {
  const seconds = Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;
  const isSmall = Math.abs(seconds) < 1e-6 && seconds !== 0;
  return `${isSmall ? seconds.toFixed(9).replace(/0+$/, '') : seconds}s`;
}

const written = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:Z|([-+])(\d\d):(\d\d))$/;

/** RFC 3339 as Go reads it. */
export function readTimestamp(text: string): Timestamp {
  const match = timeError(text, false) === undefined ? written.exec(text) : null;
  if (match === null)
    throw new RunError("type conversion error from 'string' to 'google.protobuf.Timestamp'");
  const [year = 0, month = 1, date = 1, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const nanos = Number((match[7] ?? '').padEnd(9, '0'));
  const offset = (match[8] === '-' ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, date);
  time.setUTCHours(hour, minute - offset, second, Math.floor(nanos / 1_000_000));
  return inTime(time.getTime(), nanos % 1_000_000, offset);
}

const [first, last] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** In the years 1 to 9999: there are no other timestamps. */
export function inTime(millis: number, nanos = 0, offset = 0): Timestamp {
  if (!(millis >= first && millis <= last)) throw new RunError('timestamp overflow');
  return new Timestamp(millis, nanos, offset);
}

/** In the zone in which it was written. */
export function showTimestamp(time: Date): string {
  const offset = time instanceof Timestamp ? time.offset : 0;
  const local = new Date(time.getTime() + offset * 60_000).toISOString();
  const fraction = `${local.slice(20, 23)}${String(belowMillis(time)).padStart(6, '0')}`.replace(/0+$/, '');
  const digits = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${digits(Math.trunc(size / 60))}:${digits(size % 60)}`;
  return `${local.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}${offset === 0 ? 'Z' : zone}`;
}

/** What follows a sign or a first colon is a number: else the hours, then the minutes are told not to be one. */
function offsetOf(zone: string): number {
  const at = zone.indexOf(':');
  const [hours, minutes] = [zone.slice(0, at), zone.slice(at + 1)].map((part) => {
    if (!/^[-+]?\d{1,9}$/.test(part))
      throw new RunError(`strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`);
    return Number(part);
  }) as [number, number];
  return hours * 60 + (zone.startsWith('-') ? -minutes : minutes);
}

/** The time with its parts in a zone, as if that were UTC. */
function inZone(budget: Budget, time: Value, zone: Value): Date {
  if (!(time instanceof Date)) throw noOverload();
  if (zone === undefined || zone === 'UTC' || zone === '' || zone === 'Local') return time;
  if (typeof zone !== 'string') throw noOverload();
  if (zone.length <= longestZone && zone.includes(':'))
    return new Date(time.getTime() + offsetOf(zone) * 60_000);
  budget.charge(zones.has(zone) ? 10 : 100);
  return new Date(`${partsIn(time, zone)}.${String(time.getUTCMilliseconds()).padStart(3, '0')}Z`);
}

/** Or why there is no such zone. To make one takes as long as a hundred steps. */
const zones = new Map<string, Intl.DateTimeFormat | string>();
const mostZones = 1000;
const longestZone = 100;

function formatOf(timeZone: string): Intl.DateTimeFormat | string {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;
  if (zones.size >= mostZones) zones.clear();
  const made = timeZoneProblem(timeZone) ?? makeFormat(timeZone);
  zones.set(timeZone, made);
  return made;
}

function makeFormat(timeZone: string): Intl.DateTimeFormat | string {
  try {
    return timeZoneFormat(timeZone, 'sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
  } catch {
    return `unknown time zone ${timeZone}`;
  }
}

function partsIn(time: Date, timeZone: string): string {
  const format = timeZone.length > longestZone ? `unknown time zone ${timeZone}` : formatOf(timeZone);
  if (typeof format === 'string') throw new RunError(format);
  return format.format(time).replace(' ', 'T');
}

const day = 86_400_000;
const ofDate =
  (part: (time: Date) => number): Run =>
  (budget, time, zone) =>
    BigInt(part(inZone(budget, time, zone)));

/** Of a timestamp a part; of a duration all of it in that unit. */
const ofBoth =
  (part: (time: Date) => number, span: (nanos: bigint) => bigint): Run =>
  (budget, value, zone) =>
    value instanceof Duration ? span(value.nanos) : BigInt(part(inZone(budget, value, zone)));

export const times: Readonly<Record<string, Run>> = {
  getFullYear: ofDate((time) => time.getUTCFullYear()),
  getMonth: ofDate((time) => time.getUTCMonth()),
  getDate: ofDate((time) => time.getUTCDate()),
  getDayOfMonth: ofDate((time) => time.getUTCDate() - 1),
  getDayOfWeek: ofDate((time) => time.getUTCDay()),
  getDayOfYear: ofDate((time) => Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / day)),
  getHours: ofBoth(
    (time) => time.getUTCHours(),
    (nanos) => nanos / 3_600_000_000_000n,
  ),
  getMinutes: ofBoth(
    (time) => time.getUTCMinutes(),
    (nanos) => nanos / 60_000_000_000n,
  ),
  getSeconds: ofBoth(
    (time) => time.getUTCSeconds(),
    (nanos) => nanos / 1_000_000_000n,
  ),
  getMilliseconds: ofBoth(
    (time) => time.getUTCMilliseconds(),
    (nanos) => nanos / 1_000_000n,
  ),
};
