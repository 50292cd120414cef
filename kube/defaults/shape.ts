import { roots, shapes } from './generated/shapes.ts';

/** How a type is written in JSON; see generated/shapes.ts for the letters. */
export type TypeShape =
  | { kind: 'scalar'; code: string }
  | { kind: 'pointer' | 'list' | 'map'; of: TypeShape }
  | { kind: 'struct'; name: string };

export interface FieldShape {
  name: string;
  /** `?` left out when zero, `~` also as a struct, `!` always written. */
  flag: string;
  type: TypeShape;
  /** Written as its zero when nobody gave it. */
  always: boolean;
  /** Not written when it is zero. */
  omits: boolean;
}

const lines = new Map<string, string>();
const parsed = new Map<string, FieldShape[]>();
const rootTypes = new Map<string, string>();

function parseType(code: string): TypeShape {
  const rest = code.slice(1);
  if (code.startsWith('*')) return { kind: 'pointer', of: parseType(rest) };
  if (code.startsWith('[')) return { kind: 'list', of: parseType(rest) };
  if (code.startsWith('{')) return { kind: 'map', of: parseType(rest) };
  return code.length === 1 ? { kind: 'scalar', code } : { kind: 'struct', name: code };
}

function parseField(word: string): FieldShape {
  const split = word.search(/[?~!]/);
  const [flag, type] = [word.charAt(split), parseType(word.slice(split + 1))];
  const always = flag === '!' || (flag === '?' && alwaysWritten(type));
  const omits = flag !== '!' && type.kind !== 'pointer' && !alwaysWritten(type);
  return { name: word.slice(0, split), flag, type, always, omits };
}

/** Go's `omitempty` does not apply to structs, and these are structs. */
function alwaysWritten(type: TypeShape): boolean {
  return type.kind === 'struct' || (type.kind === 'scalar' && 'xtuqdr'.includes(type.code));
}

/** The fields of a type in their order, empty for an unknown one. */
export function fieldsOf(name: string): readonly FieldShape[] {
  if (lines.size === 0) {
    for (const line of shapes.trim().split('\n')) {
      const space = line.indexOf(' ');
      if (space > 0) lines.set(line.slice(0, space), line.slice(space + 1));
    }
  }
  let fields = parsed.get(name);
  if (!fields) {
    fields = (lines.get(name) ?? '').split(' ').filter(Boolean).map(parseField);
    parsed.set(name, fields);
  }
  return fields;
}

/** The type of a built-in kind; undefined for any other. */
export function rootType(group: string, version: string, kind: string): TypeShape | undefined {
  if (rootTypes.size === 0) {
    for (const line of roots.trim().split('\n')) {
      const [key = '', name = ''] = line.split('=');
      rootTypes.set(key, name);
    }
  }
  const name = rootTypes.get(`${group}/${version}/${kind}`);
  return name === undefined ? undefined : { kind: 'struct', name };
}
