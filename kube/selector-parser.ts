import { validateQualifiedName } from './names.ts';
import { badRequest } from './status.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One requirement; all must hold. `values` are sorted and without repeats. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

type Token = { kind: 'identifier' | 'end' | 'error' | Symbol; text: string };
type Symbol = ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(';

const symbols: readonly string[] = [')', ',', '!', '==', '=', '>', 'in', '<', '!=', 'notin', '('];
const isSymbol = (text: string): text is Symbol => symbols.includes(text);
const binaryOperators: Partial<Record<Token['kind'], LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};
const operatorNames = 'in, notin, =, ==, !=, gt, lt';

/** Longest operator first; a run of specials that starts with none is an error token. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [run] of text.matchAll(/[=!(),<>]+|[^=!(),<> \t\r\n]+/g)) {
    if (!/^[=!(),<>]/.test(run)) {
      tokens.push({ kind: isSymbol(run) ? run : 'identifier', text: run });
      continue;
    }
    for (let at = 0; at < run.length; ) {
      const two = run.slice(at, at + 2);
      const symbol = isSymbol(two) ? two : run.charAt(at);
      tokens.push({ kind: isSymbol(symbol) ? symbol : 'error', text: symbol });
      at += symbol.length;
    }
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class Cursor {
  #at = 0;
  readonly #tokens: Token[];

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** `in` and `notin` are words like any other where a key or a value is due. */
  peek(): Token {
    const token = this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { kind: 'end', text: '' };
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
  }

  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  nextOperator(): Token {
    const token = this.#tokens[this.#at] ?? { kind: 'end', text: '' };
    this.#at++;
    return token;
  }
}

/** The grammar of label selectors; values are not validated here. */
export function parseRequirements(text: string): LabelRequirement[] {
  const cursor = new Cursor(text);
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const token = cursor.peek();
    if (token.kind === 'end') return requirements;
    if (token.kind !== 'identifier' && token.kind !== '!') {
      throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(cursor));
    const separator = cursor.next();
    if (separator.kind === 'end') return requirements;
    if (separator.kind !== ',') {
      throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    }
    const following = cursor.peek();
    if (following.kind !== 'identifier' && following.kind !== '!') {
      throw badRequest(`found '${following.text}', expected: identifier after ','`);
    }
  }
}

function fail(why: string): never {
  throw badRequest(`unable to parse requirement: ${why}`);
}

function parseRequirement(cursor: Cursor): LabelRequirement {
  let token = cursor.next();
  const negated = token.kind === '!';
  if (negated) token = cursor.next();
  if (token.kind !== 'identifier') fail(`found '${token.text}', expected: identifier`);
  const key = token.text;
  const messages = validateQualifiedName(key);
  if (messages.length > 0) fail(`<nil>: Invalid value: ${JSON.stringify(key)}: ${messages.join('; ')}`);
  const after = cursor.peek().kind;
  if (negated) return { key, operator: '!', values: [] };
  if (after === 'end' || after === ',') return { key, operator: 'exists', values: [] };
  const found = cursor.nextOperator();
  const operator = binaryOperators[found.kind];
  if (!operator) fail(`found '${found.text}', expected: ${operatorNames}`);
  const values = operator === 'in' || operator === 'notin' ? parseValues(cursor) : [parseExactValue(cursor)];
  return { key, operator, values: [...new Set(values)].sort() };
}

function parseExactValue(cursor: Cursor): string {
  const ahead = cursor.peek().kind;
  if (ahead === 'end' || ahead === ',') return '';
  const token = cursor.next();
  if (token.kind !== 'identifier') fail(`found '${token.text}', expected: identifier`);
  return token.text;
}

function parseValues(cursor: Cursor): string[] {
  const open = cursor.next();
  if (open.kind !== '(') fail(`found '${open.text}' expected: '('`);
  const first = cursor.peek();
  if (first.kind === ')') {
    cursor.next();
    return [''];
  }
  if (first.kind !== 'identifier' && first.kind !== ',') {
    fail(`found '${first.text}', expected: ',', ')' or identifier`);
  }
  const values = parseIdentifiers(cursor);
  cursor.next();
  return values;
}

/** Up to, not including, the closing parenthesis. Empty places between commas are empty values. */
function parseIdentifiers(cursor: Cursor): string[] {
  const values: string[] = [];
  for (;;) {
    const token = cursor.next();
    if (token.kind === 'identifier') {
      values.push(token.text);
      const ahead = cursor.peek();
      if (ahead.kind === ')') return values;
      if (ahead.kind !== ',') fail(`found '${ahead.text}', expected: ',' or ')'`);
    } else if (token.kind === ',') {
      if (values.length === 0) values.push('');
      const ahead = cursor.peek().kind;
      if (ahead === ')' || ahead === ',') values.push('');
      if (ahead === ')') return values;
    } else {
      fail(`found '${token.text}', expected: ',', or identifier`);
    }
  }
}
