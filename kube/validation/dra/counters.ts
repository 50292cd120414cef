import { record, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Label } from '../rules.ts';

const mostCounters = 32;

/** The counters of a set, or what a device takes of them. */
export function counters(value: unknown, field: Field): void {
  const names = Object.keys(record(value));
  if (names.length === 0) field.required();
  else if (names.length > mostCounters) field.tooMany(names.length, mostCounters);
  else for (const name of names) dns1123Label(name, field);
}

export function counterSetName(value: unknown, field: Field): void {
  if (!text(value)) field.required();
  else dns1123Label(text(value), field);
}
