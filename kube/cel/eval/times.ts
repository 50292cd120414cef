import { timeError } from '../../schema/mismatch.ts';
import { type Budget, RunError } from './budget.ts';
import type { Run } from './run.ts';
import { Duration, noOverload, type Value } from './values.ts';

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

/** As Go's JSON has durations: seconds. */
export function showDuration({ nanos }: Duration): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}

export function readTimestamp(text: string): Date {
  const time = new Date(text.replace(',', '.'));
  if (timeError(text, false) !== undefined || Number.isNaN(time.getTime()))
    throw new RunError("type conversion error from 'string' to 'google.protobuf.Timestamp'");
  return inTime(time.getTime());
}

const [first, last] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** In the years 1 to 9999: there are no other timestamps. */
export function inTime(millis: number): Date {
  if (!(millis >= first && millis <= last)) throw new RunError('timestamp overflow');
  return new Date(millis);
}

export function showTimestamp(time: Date): string {
  return time.toISOString().replace(/\.?0*Z$/, 'Z');
}

/** The time with its parts in a zone, as if that were UTC. */
function inZone(budget: Budget, time: Value, zone: Value): Date {
  if (!(time instanceof Date)) throw noOverload();
  if (zone === undefined || zone === 'UTC') return time;
  if (typeof zone !== 'string') throw noOverload();
  const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(time.getTime() + (offset[1] === '-' ? -minutes : minutes) * 60_000);
  }
  budget.charge(zones.has(zone) ? 10 : 100);
  return new Date(`${partsIn(time, zone)}.${String(time.getUTCMilliseconds()).padStart(3, '0')}Z`);
}

/** Undefined: there is no such zone. To make one takes as long as a hundred steps. */
const zones = new Map<string, Intl.DateTimeFormat | undefined>();
const mostZones = 1000;

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  if (zones.has(timeZone)) return zones.get(timeZone);
  if (zones.size >= mostZones) zones.clear();
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  let made: Intl.DateTimeFormat | undefined;
  try {
    made = new Intl.DateTimeFormat('sv-SE', options);
  } catch {
    made = undefined;
  }
  zones.set(timeZone, made);
  return made;
}

function partsIn(time: Date, timeZone: string): string {
  const format = timeZone.length > 100 ? undefined : formatOf(timeZone);
  if (format === undefined) throw new RunError(`unknown time zone ${timeZone}`);
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
