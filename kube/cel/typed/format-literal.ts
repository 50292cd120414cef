import type { Checked } from './check.ts';
import type { Call, Issue } from './expr.ts';

interface Clause {
  /** Kinds of types that have no place there, of those that are known before the expression runs. */
  takes: readonly string[];
  only: string;
}

const whole = ['int', 'uint'];
const doubles = ['double', 'string'];
const hex: Clause = {
  takes: [...whole, 'string', 'bytes'],
  only: 'only integers, byte buffers, and strings can be formatted as hex',
};
const clauses: Readonly<Record<string, Clause | 'any'>> = {
  s: 'any',
  d: { takes: whole, only: 'decimal clause can only be used on integers' },
  f: { takes: doubles, only: 'fixed-point clause can only be used on doubles' },
  e: { takes: doubles, only: 'scientific clause can only be used on doubles' },
  b: { takes: [...whole, 'bool'], only: 'only integers and bools can be formatted as binary' },
  o: { takes: whole, only: 'octal clause can only be used on integers' },
  x: hex,
  X: hex,
};
const plain = new Set(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map']);

/** What is wrong with `'…'.format([…])`, both written out; the first thing that is. */
export function formatIssue({ name, target, args, offset }: Call, checked: Checked): Issue | undefined {
  const [list] = args;
  if (name !== 'format' || target?.op !== 'literal' || target.type !== 'string' || list?.op !== 'list')
    return undefined;
  const text = String(target.value);
  let next = 0;
  for (const { 0: all, 1: verb, index } of text.matchAll(/%(?:%|(?:\.\d+)?([a-zA-Z])|)/g)) {
    if (all === '%%') continue;
    if (index + 1 === text.length) return { offset, message: 'unexpected end of string' };
    const item = list.items[next];
    if (!item) return { offset, message: `index ${next} out of range` };
    const letter = verb ?? text[index + 1] ?? '';
    const clause = Object.hasOwn(clauses, letter) ? clauses[letter] : undefined;
    if (!clause) {
      const why = `unrecognized formatting clause "${letter}"`;
      return { offset, message: `could not parse formatting clause: ${why}` };
    }
    const { kind } = checked.typeOf(item);
    if (clause !== 'any' && plain.has(kind) && !clause.takes.includes(kind))
      return { offset: item.offset, message: `error during formatting: ${clause.only}, was given ${kind}` };
    next++;
  }
  if (list.items.length <= next) return undefined;
  const counts = `(expected ${next}, got ${list.items.length})`;
  return { offset, message: `too many arguments supplied to string.format ${counts}` };
}
