import type { Json } from '../object.ts';
import { at } from '../untyped.ts';

/** The fields of a type as Kubernetes' internal types name them, with their zero values: messages show those. */
export type ShownShape = readonly (readonly [json: string, go: string, zero: Json])[];

/** A value as messages show it that print a whole structure; null for an absent one. */
export function shownAs(value: unknown, shape: ShownShape): Json {
  if (value === undefined || value === null) return null;
  return Object.fromEntries(
    shape.map(([json, go, zero]) => [go, (at(value, json) as Json | undefined) ?? zero]),
  );
}
