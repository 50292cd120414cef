import type { Json } from '../object.ts';
import type { GoShape, GoStruct } from './go.ts';

/** What a null leaves where a list or map needs a value. */
export function ofNull(shape: GoShape): Json | undefined {
  if (shape.kind === 'string' || shape.kind === 'bytes') return '';
  if (shape.kind === 'bool') return false;
  if (shape.kind === 'struct') return shape.struct.special === undefined ? {} : specialZero(shape.struct);
  return shape.kind === 'list' || shape.kind === 'map' || shape.kind === 'any' ? null : 0;
}

function specialZero({ special }: GoStruct): Json {
  return special === 'quantity' ? '0' : special === 'int-or-string' ? 0 : null;
}
