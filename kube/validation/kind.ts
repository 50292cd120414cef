import type { JsonObject } from '../object.ts';
import type { Field } from './field.ts';

/** An object as its kind's check sees it; `old` is what it replaces, absent on create. */
export interface Subject {
  object: JsonObject;
  spec: JsonObject;
  old?: JsonObject;
  oldSpec?: JsonObject;
}

/** Adds the causes beyond metadata; `root` is the field that all paths start at. */
export type KindCheck = (subject: Subject, root: Field) => void;

/** By `<group>/<kind>`, core's group empty. */
export type KindChecks = Record<string, KindCheck>;
