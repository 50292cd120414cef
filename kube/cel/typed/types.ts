import type { Scalar } from './expr.ts';

/** A type of CEL; `struct` has fields that its declaration tells (environment.ts), `opaque` has none. */
export interface CelType {
  kind:
    | Scalar
    | 'dyn'
    | 'error'
    | 'timestamp'
    | 'duration'
    | 'list'
    | 'map'
    | 'struct'
    | 'opaque'
    | 'type'
    | 'param';
  name: string;
  params: readonly CelType[];
  /** How many types it is made of, where it is more than one. */
  size?: number;
}

/** A variable may hold maps of those before it, each twice as large: what is larger than any that is meant may be anything. */
const mostTypes = 500;

function made(
  kind: 'list' | 'map' | 'opaque' | 'type',
  name: string,
  params: readonly CelType[],
  tooLarge = dyn,
): CelType {
  const size = params.reduce((sum, one) => sum + sizeOf(one), 1);
  return size > mostTypes ? tooLarge : { kind, name, params, size };
}

export function sizeOf({ size = 1 }: CelType): number {
  return size;
}

const simple = (kind: CelType['kind'], name: string = kind): CelType => ({ kind, name, params: [] });

export const dyn = simple('dyn');
/** Of any type, as messages of protobuf are that may be any. */
export const any = simple('dyn', 'any');
export const errorType = simple('error');
export const bool = simple('bool');
export const int = simple('int');
export const string = simple('string');
export const bytes = simple('bytes');
export const double = simple('double');
export const uint = simple('uint');
export const nullType = simple('null_type');
export const timestamp = simple('timestamp', 'google.protobuf.Timestamp');
export const duration = simple('duration', 'google.protobuf.Duration');
export const listOf = (item: CelType): CelType => made('list', 'list', [item]);
export const mapOf = (key: CelType, value: CelType): CelType => made('map', 'map', [key, value]);
export const struct = (name: string): CelType => simple('struct', name);
export const opaque = (name: string, ...params: CelType[]): CelType =>
  params.length === 0 ? simple('opaque', name) : made('opaque', name, params);
export const optionalOf = (inner: CelType): CelType => opaque('optional_type', inner);
const anyType = simple('type');
export const typeOf = (inner?: CelType): CelType =>
  inner ? made('type', 'type', [inner], anyType) : anyType;
export const param = (name: string): CelType => simple('param', name);

const shown: Partial<Record<CelType['kind'], string>> = {
  timestamp: 'timestamp',
  duration: 'duration',
  error: '!error!',
  null_type: 'null',
};

/** As messages show it: `map(string, list(int))`. */
export function formatType({ kind, name, params }: CelType): string {
  const own = shown[kind];
  if (own !== undefined) return own;
  return params.length === 0 ? name : `${name}(${params.map(formatType).join(', ')})`;
}

/** As messages tell what an expression evaluates to: with the names that types are declared by. */
export function declaredType({ name, params }: CelType): string {
  return params.length === 0 ? name : `${name}(${params.map(declaredType).join(', ')})`;
}

export function sameType(a: CelType, b: CelType): boolean {
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((one, i) => sameType(one, b.params[i] as CelType))
  );
}

/** What an optional may hold; any other type itself. */
export function unwrapped(type: CelType): { type: CelType; optional: boolean } {
  const [inner] = type.params;
  if (type.kind === 'opaque' && type.name === 'optional_type' && inner)
    return { type: inner, optional: true };
  return { type, optional: false };
}

const words: Readonly<Record<string, CelType>> = {
  dyn,
  bool,
  int,
  uint,
  double,
  string,
  bytes,
  timestamp,
  duration,
  type: typeOf(),
  'kubernetes.NamedFormat': struct('kubernetes.NamedFormat'),
};

/** Types of libraries that have fields of their own, or none. */
const opaques = new Set(['net.IP', 'net.CIDR']);

/** Reads `map(string, list(A))`: single capitals are parameters, dotted names messages. */
export function readType(text: string): CelType {
  const [name = '', rest] = splitOnce(text.trim(), '(');
  const params = rest === undefined ? [] : splitArguments(rest.slice(0, -1)).map(readType);
  const [first = dyn, second = dyn] = params;
  if (name === 'list') return listOf(first);
  if (name === 'map') return mapOf(first, second);
  if (name === 'type') return typeOf(params[0]);
  if (name === 'optional_type' || opaques.has(name)) return opaque(name, ...params);
  if (/^[A-Z]$/.test(name)) return param(name);
  return (Object.hasOwn(words, name) ? words[name] : undefined) ?? struct(name);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** At the commas that no parentheses enclose. */
export function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (const [at, character] of [...text].entries()) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character !== ',' || depth > 0) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  return text.trim() === '' ? [] : [...parts, text.slice(start)];
}
