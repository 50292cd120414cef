import { timeZoneNames } from './time-zones.ts';

let newer: ReadonlySet<string> | undefined;

/** Why Go's time.LoadLocation finds no zone of the IANA's by that name; undefined: there is one. */
export function timeZoneProblem(name: string): string | undefined {
  if (name.includes('..') || /^[/\\]/.test(name)) return 'time: invalid location name';
  if (timeZoneNames.has(name)) return undefined;
  newer ??= new Set(Intl.supportedValuesOf('timeZone'));
  return newer.has(name) ? undefined : `unknown time zone ${name}`;
}

/** Of a zone that there is. Throws RangeError where ICU is older than the zone. */
export function timeZoneFormat(
  name: string,
  locale: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  // Whoever has not set a zone is in none.
  return new Intl.DateTimeFormat(locale, { ...options, timeZone: name === 'Factory' ? 'UTC' : name });
}
