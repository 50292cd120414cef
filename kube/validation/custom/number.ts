import type { StatusCause } from '../../status.ts';
import { goNumber } from '../formats.ts';
import { invalid, isWhole } from './scalar.ts';

type Rules = Record<string, unknown>;

/** Bounds and factor, each held to the type's range itself. */
export function numberCauses(value: number | bigint, schema: Rules, path: string): StatusCause[] {
  const causes = outOfRange(value, schema, 'Checked', path);
  const { minimum, maximum, multipleOf } = schema;
  if (typeof multipleOf === 'number')
    causes.push(...outOfRange(multipleOf, schema, 'MultipleOf', path), ...factor(value, multipleOf, path));
  const bound = (
    limit: unknown,
    what: string,
    exclusive: boolean,
    fits: (limit: number) => boolean,
    words: string,
  ) => {
    if (typeof limit !== 'number') return;
    causes.push(...outOfRange(limit, schema, `${what} boundary`, path));
    if (fits(limit)) return;
    const rule = exclusive ? `${words} than` : `${words} than or equal to`;
    causes.push(invalid(path, shown(value), `${path} in body should be ${rule} ${goNumber(limit)}`));
  };
  const below = schema['exclusiveMaximum'] === true;
  const above = schema['exclusiveMinimum'] === true;
  bound(minimum, 'Minimum', above, (limit) => (above ? value > limit : value >= limit), 'greater');
  bound(maximum, 'Maximum', below, (limit) => (below ? value < limit : value <= limit), 'less');
  return causes;
}

function shown(value: number | bigint): string {
  return isWhole(value) ? String(value) : goNumber(Number(value));
}

function factor(value: number | bigint, multipleOf: number, path: string): StatusCause[] {
  if (multipleOf <= 0) {
    const rule = `factor MultipleOf declared for ${path} must be positive: ${goNumber(multipleOf)}`;
    return [invalid(path, goNumber(multipleOf), rule)];
  }
  const quotient = multipleOf < 1 ? (1 / multipleOf) * Number(value) : Number(value) / multipleOf;
  if (isJsonInteger(quotient)) return [];
  return [invalid(path, shown(value), `${path} in body should be a multiple of ${goNumber(multipleOf)}`)];
}

/** Close enough to a whole number that a double holds exactly. */
function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const difference = Math.abs(value - Math.trunc(value));
  return difference === 0 || difference < 1e-9 * (Math.abs(value) + Math.abs(Math.trunc(value)));
}

const bits: Readonly<Record<string, number>> = { int32: 32, int64: 64 };
const largestFloat = 3.4028235e38;

/** Said of the whole value, at no field. */
function outOfRange(
  value: number | bigint,
  { type, format }: Rules,
  what: string,
  path: string,
): StatusCause[] {
  const known = typeof format === 'string' ? format : '';
  let fits = true;
  if (type === 'integer') {
    const size = bits[known] ?? 64;
    fits = isWhole(value) && BigInt.asIntN(size, BigInt(value)) === BigInt(value);
  } else if (type === 'number' && known === 'float') fits = Math.abs(Number(value)) <= largestFloat;
  if (fits) return [];
  const isSaid = type === 'integer' ? Object.hasOwn(bits, known) : known === 'float';
  const named = isSaid ? `with format ${known}` : '(default format)';
  const message = `Invalid value: "": ${what} value must be of type ${type} ${named} in ${path}`;
  return [{ reason: 'FieldValueInvalid', message, field: '<nil>' }];
}
