import { quoteGo } from '../../quote.ts';
import { regex } from '../../regex.ts';
import { type Budget, RunError } from './budget.ts';
import { formatted } from './format.ts';
import type { Run } from './run.ts';
import { noOverload, type Value } from './values.ts';

function text(value: Value): string {
  if (typeof value === 'string') return value;
  throw noOverload();
}

function index(value: Value): number {
  if (typeof value === 'bigint') return Number(value);
  throw noOverload();
}

/** A string's characters, where its length or a place in it is asked for. */
function characters(budget: Budget, value: Value): readonly string[] {
  const own = text(value);
  budget.text(own);
  return [...own];
}

function pattern(budget: Budget, subject: string, expression: Value) {
  const own = text(expression);
  // What RE2 takes is the product of the two.
  budget.charge((1 + subject.length / 10) * Math.max(own.length / 4, 1));
  const compiled = regex(own);
  if (!compiled) throw new RunError(`error parsing regexp: ${own}`);
  return compiled;
}

function findAll(budget: Budget, subject: string, expression: Value, limit: number): string[] {
  const matcher = pattern(budget, subject, expression).matcher(subject);
  const found: string[] = [];
  let last = -1;
  while ((limit < 0 || found.length < limit) && matcher.find()) {
    // The next may be looked for up to the end, and so may all that follow.
    budget.charge(1 + (subject.length - matcher.end()) / 5);
    // As Go has it, nothing is found where something else just ended.
    const isNothing = matcher.start() === matcher.end() && matcher.start() === last;
    last = matcher.end();
    if (!isNothing) found.push(matcher.group() ?? '');
  }
  return found;
}

/** The longer what is looked for, the more often each character may be looked at. */
function looking(budget: Budget, subject: string, what: string): void {
  budget.charge((1 + subject.length / 10) * Math.max(1, what.length / 10));
}

function replace(budget: Budget, subject: string, from: string, to: string, limit: number): string {
  looking(budget, subject, from);
  // Nothing is before each character, and at the end.
  const parts = from === '' ? ['', ...subject, ''] : subject.split(from);
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  budget.charge((count * to.length) / 10 + parts.length / 10);
  const head = parts.slice(0, count + 1).join(to);
  return [head, ...parts.slice(count + 1)].join(from);
}

function within(at: number, length: number): number {
  if (at < 0 || at > length) throw new RunError(`index out of range: ${at}`);
  return at;
}

function substring(budget: Budget, of: Value, from: Value, to?: Value): string {
  const all = characters(budget, of);
  const start = within(index(from), all.length);
  const end = to === undefined ? all.length : within(index(to), all.length);
  if (start > end) throw new RunError(`invalid substring range. start: ${start}, end: ${end}`);
  return all.slice(start, end).join('');
}

function find(budget: Budget, of: string, what: string, offset: Value, last: boolean): bigint {
  looking(budget, of, what);
  const all = characters(budget, of);
  if (offset === undefined && all.length === of.length)
    return BigInt(last ? of.lastIndexOf(what) : of.indexOf(what));
  // Beyond its end nothing is.
  if (!last && offset !== undefined && index(offset) > all.length) return -1n;
  const start = offset === undefined ? (last ? all.length : 0) : within(index(offset), all.length);
  const unit = all.slice(0, start).join('').length;
  const found = last ? of.lastIndexOf(what, unit) : of.indexOf(what, unit);
  return BigInt(found < 0 ? -1 : [...of.slice(0, found)].length);
}

function split(budget: Budget, of: Value, by: Value, limit?: Value): string[] {
  const [subject, separator] = [text(of), text(by)];
  looking(budget, subject, separator);
  const most = limit === undefined ? -1 : index(limit);
  if (most === 0) return [];
  const parts = separator === '' ? [...subject] : subject.split(separator);
  budget.charge(parts.length / 10);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

function ascii(budget: Budget, of: Value, letters: RegExp, change: (letter: string) => string): string {
  budget.text(text(of));
  return text(of).replace(letters, change);
}

const functions: Readonly<Record<string, Run>> = {
  matches: (budget, of, expression) => pattern(budget, text(of), expression).test(text(of)),
  find: (budget, of, expression) => findAll(budget, text(of), expression, 1).join(''),
  findAll: (budget, of, expression, limit) =>
    findAll(budget, text(of), expression, limit === undefined ? -1 : index(limit)),
  replace: (budget, of, from, to, limit) =>
    replace(budget, text(of), text(from), text(to), limit === undefined ? -1 : index(limit)),
  charAt: (budget, of, at) => {
    const all = characters(budget, of);
    return all[within(index(at), all.length)] ?? '';
  },
  format: (budget, of, args) => {
    if (!Array.isArray(args)) throw noOverload();
    return formatted(budget, text(of), args);
  },
  contains: (budget, of, what) => {
    looking(budget, text(of), text(what));
    return text(of).includes(text(what));
  },
  startsWith: (budget, of, what) => {
    budget.text(text(what));
    return text(of).startsWith(text(what));
  },
  endsWith: (budget, of, what) => {
    budget.text(text(what));
    return text(of).endsWith(text(what));
  },
  substring,
  split,
  join: (budget, list, by) => {
    if (!Array.isArray(list)) throw noOverload();
    const separator = by === undefined ? '' : text(by);
    budget.charge(list.length + (list.length * separator.length) / 10);
    for (const one of list) budget.text(text(one));
    return list.join(separator);
  },
  lowerAscii: (budget, of) => ascii(budget, of, /[A-Z]+/g, (letters) => letters.toLowerCase()),
  upperAscii: (budget, of) => ascii(budget, of, /[a-z]+/g, (letters) => letters.toUpperCase()),
  trim: (budget, of) => {
    budget.text(text(of));
    return text(of).trim();
  },
  'strings.quote': (budget, of) => {
    budget.text(text(of));
    return quoteGo(text(of));
  },
};

export const strings = { functions, characters, find };
