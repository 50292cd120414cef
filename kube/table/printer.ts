import type { JsonObject } from '../object.ts';

/** What a printer sees: the object, and the words that all printers share. */
export interface Row {
  object: JsonObject;
  name: string;
  spec: JsonObject;
  status: JsonObject;
  /** How long ago, as people say it. */
  since(time: unknown): string;
  age: string;
}

export interface Printer {
  /** Names separated by `|`; `*` after one puts it on the wide page only, `:i` and `:b` are its type, `@` is the name. */
  columns: string;
  cells(row: Row): unknown[];
  /** In which order a list is printed, where that is not the list's. */
  order?(a: JsonObject, b: JsonObject): number;
}

/** By `<group>/<kind>`, core's group empty. */
export type Printers = Record<string, Printer>;
