import type { JsonObject } from '../object.ts';

/** Fills in one value of a type in place; nulls and zeros that JSON leaves out are absent by then. */
export type Defaulter = (value: JsonObject) => void;

/** By the name of the type, as shape.ts has it. */
export type Defaulters = Record<string, Defaulter>;
