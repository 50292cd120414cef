import type { JsonObject } from '../object.ts';

/** What is said beside the answer of a write that succeeds; `old` is absent on create. */
export type KindWarnings = (object: JsonObject, old: JsonObject | undefined) => string[];
