import { type Cursor, Unparsable } from './cursor.ts';
import type { Issue, Literal, Scalar } from './expr.ts';
import { unquoted } from './lexer.ts';

/** The next tokens as a literal, a sign before a number included. */
export function readLiteral(tokens: Cursor, issues: Issue[]): Literal {
  const sign = tokens.is('-') ? tokens.take() : undefined;
  const { kind, text, offset: here } = tokens.take();
  const offset = sign?.offset ?? here;
  const make = (type: Scalar, value: Literal['value']): Literal => ({ op: 'literal', offset, type, value });
  const minus = sign ? '-' : '';
  if (kind === 'int' || kind === 'uint') {
    const digits = BigInt(kind === 'uint' ? text.slice(0, -1) : text);
    const value = sign ? -digits : digits;
    const fits = kind === 'int' ? BigInt.asIntN(64, value) === value : BigInt.asUintN(64, value) === value;
    if (!fits) issues.push({ offset, message: `invalid ${kind} literal` });
    return make(kind, value);
  }
  if (kind === 'double') return make('double', Number(minus + text));
  if (sign) throw new Unparsable();
  if (kind === 'string' || kind === 'bytes') return make(kind, unquoted(text, kind === 'bytes'));
  if (kind !== 'ident') throw new Unparsable();
  return text === 'null' ? make('null_type', null) : make('bool', text === 'true');
}
