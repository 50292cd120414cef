import type { GoShape } from '../schema/go.ts';

/** Wire types. https://protobuf.dev/programming-guides/encoding/#structure */
export const varint = 0;
export const fixed64 = 1;
export const bytes = 2;
export const startGroup = 3;
export const endGroup = 4;
export const fixed32 = 5;

/** The wire type that carries one value of a shape. */
export function wireOf(shape: GoShape): number {
  if (shape.kind === 'bool' || shape.kind === 'int32' || shape.kind === 'int64') return varint;
  return shape.kind === 'double' ? fixed64 : bytes;
}
