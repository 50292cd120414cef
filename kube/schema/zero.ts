import type { GoField } from './go.ts';
import type { Special } from './table.ts';

/** What Go's JSON encoder writes for a value that nothing set. */
export type Zero = string | number | boolean | null | Readonly<Record<string, never>>;

/** What Go's encoder writes for the field when nothing set it; undefined where it writes nothing. */
export function zeroOf(field: GoField): Zero | undefined {
  const { shape } = field;
  if (field.omitZero) return undefined;
  const struct = shape.kind === 'struct' && !field.pointer;
  if (field.omitEmpty && !struct) return undefined;
  if (field.pointer) return null;
  if (struct) return specialZero(shape.struct.special);
  if (shape.kind === 'string') return '';
  if (shape.kind === 'bool') return false;
  if (shape.kind === 'int32' || shape.kind === 'int64' || shape.kind === 'double') return 0;
  return null;
}

function specialZero(special: Special | undefined): Zero {
  if (special === undefined) return {};
  if (special === 'quantity') return '0';
  if (special === 'int-or-string') return 0;
  if (special === 'duration') return '0s';
  return null;
}
