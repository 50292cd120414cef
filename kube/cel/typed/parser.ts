import { Cursor, reserved, TooDeep, Unparsable } from './cursor.ts';
import { children, type Entry, type Expr, type Issue, type List, type Literal } from './expr.ts';
import { tokens } from './lexer.ts';
import { readLiteral } from './literal.ts';
import { Copies, expandMacro } from './macros.ts';
import { deepest, Nesting } from './nesting.ts';

const nothing: Literal = { op: 'literal', offset: 0, type: 'null_type', value: null };

/** `copied`: how many parts its macros have copied. */
export interface Parsed {
  expr: Expr;
  issues: Issue[];
  copied: number;
}

/** Reads an expression and expands its macros; undefined when it is not by the grammar. */
export function parse(input: string, bindings = false): Parsed | undefined {
  const list = tokens(input);
  if (!list) return undefined;
  try {
    const parser = new Parser(new Cursor(list), bindings);
    return { expr: parser.whole(), issues: parser.issues, copied: parser.copies.count };
  } catch (error) {
    if (error instanceof Unparsable) return undefined;
    if (error instanceof TooDeep)
      return { expr: nothing, issues: [{ offset: -1, message: error.message }], copied: 0 };
    throw error;
  }
}

/** The binary operators, those that bind least first. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>=', '>', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

class Parser {
  readonly issues: Issue[] = [];
  readonly #tokens: Cursor;
  readonly #bindings: boolean;
  #depth = 0;
  readonly #nesting = new Nesting();
  readonly copies: Copies = new Copies();

  constructor(tokens: Cursor, bindings: boolean) {
    this.#tokens = tokens;
    this.#bindings = bindings;
  }

  whole(): Expr {
    const expr = this.#expr();
    if (this.#tokens.peek().kind !== 'end') throw new Unparsable();
    return expr;
  }

  #expr(): Expr {
    if (++this.#depth > deepest) throw new TooDeep(`expression recursion limit exceeded: ${deepest}`);
    const condition = this.#binary(0);
    let expr = condition;
    if (this.#tokens.is('?')) {
      const { offset } = this.#tokens.take();
      const yes = this.#binary(0);
      this.#tokens.expect(':');
      const args = [condition, yes, this.#expr()];
      expr = this.#nesting.around({ op: 'call', offset, name: '_?_:_', args }, ...args);
    }
    this.#depth--;
    return expr;
  }

  #binary(level: number): Expr {
    const operators = levels[level];
    if (!operators) return this.#unary();
    if (level < 2) return this.#logical(level, operators[0] ?? '');
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((text) => this.#tokens.is(text));
      if (operator === undefined) return left;
      const { offset } = this.#tokens.take();
      const name = operator === 'in' ? '@in' : `_${operator}_`;
      const args = [left, this.#binary(level + 1)];
      left = this.#nesting.around({ op: 'call', offset, name, args }, ...args);
    }
  }

  /** `a && b && c` as a tree that is as flat as can be. */
  #logical(level: number, operator: string): Expr {
    const terms = [this.#binary(level + 1)];
    const places: number[] = [];
    while (this.#tokens.is(operator)) {
      places.push(this.#tokens.take().offset);
      terms.push(this.#binary(level + 1));
    }
    const tree = (low: number, high: number): Expr => {
      if (low > high) return terms[low] ?? nothing;
      const middle = Math.floor((low + high + 1) / 2);
      const args = [tree(low, middle - 1), tree(middle + 1, high)];
      return this.#nesting.beside(
        { op: 'call', offset: places[middle] ?? 0, name: `_${operator}_`, args },
        args,
      );
    };
    return tree(0, places.length - 1);
  }

  #unary(): Expr {
    const literal = this.#tokens.is('-') && ['int', 'double'].includes(this.#tokens.peek(1).kind);
    const operator = this.#tokens.is('!') ? '!' : this.#tokens.is('-') && !literal ? '-' : undefined;
    if (operator === undefined) return this.#member();
    const { offset } = this.#tokens.peek();
    let count = 0;
    while (this.#tokens.skip(operator)) count++;
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#nesting.beside({ op: 'call', offset, name: `${operator}_`, args: [operand] }, [operand]);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      if (this.#tokens.is('.')) expr = this.#field(expr);
      else if (this.#tokens.is('[')) {
        const { offset } = this.#tokens.take();
        const name = this.#tokens.skip('?') ? '_[?_]' : '_[_]';
        const args = [expr, this.#expr()];
        expr = this.#nesting.around({ op: 'call', offset, name, args }, ...args);
        this.#tokens.expect(']');
      } else return expr;
    }
  }

  #field(operand: Expr): Expr {
    const { offset } = this.#tokens.take();
    const optional = this.#tokens.skip('?');
    const token = this.#tokens.peek();
    if (token.kind === 'quoted') throw new Unparsable();
    const field = this.#tokens.name();
    if (optional) {
      const name: Literal = { op: 'literal', offset: field.offset, type: 'string', value: field.text };
      return this.#nesting.around({ op: 'call', offset, name: '_?._', args: [operand, name] }, operand);
    }
    if (!this.#tokens.is('('))
      return this.#nesting.around({ op: 'select', offset, operand, field: field.text, test: false }, operand);
    const open = this.#tokens.take();
    return this.#call(open.offset, field.text, this.#list(')'), operand);
  }

  #call(offset: number, name: string, args: Expr[], target?: Expr): Expr {
    const call = { op: 'call' as const, offset, name, args, ...(target && { target }) };
    const inner = target ? [target, ...args] : args;
    if (target) this.#nesting.around(call, ...inner);
    else this.#nesting.beside(call, inner);
    const expanded = expandMacro(call, this.#bindings, this.copies);
    if (!expanded) return call;
    if ('message' in expanded) {
      this.issues.push(expanded);
      return { op: 'literal', offset: expanded.offset, type: 'null_type', value: null };
    }
    this.#nesting.replace(call, expanded);
    return expanded;
  }

  #list(end: string): Expr[] {
    const found: Expr[] = [];
    if (this.#tokens.skip(end)) return found;
    do found.push(this.#expr());
    while (this.#tokens.skip(','));
    this.#tokens.expect(end);
    return found;
  }

  #primary(): Expr {
    const token = this.#tokens.peek();
    if (token.kind === 'symbol') {
      if (token.text === '(') {
        this.#tokens.take();
        const inner = this.#expr();
        this.#tokens.expect(')');
        return inner;
      }
      if (token.text === '[') return this.#listLiteral();
      if (token.text === '{') return this.#struct(this.#tokens.take().offset);
      if (token.text === '.') {
        this.#tokens.take();
        return this.#named();
      }
    }
    return token.kind === 'ident' && !this.#tokens.isConstant()
      ? this.#named()
      : readLiteral(this.#tokens, this.issues);
  }

  #named(): Expr {
    const name = this.#tokens.name();
    const message = this.#tokens.messageName(name.text);
    if (message !== undefined) return this.#struct(this.#tokens.take().offset, message);
    const call = this.#tokens.is('(');
    if (reserved.has(name.text))
      this.issues.push({ offset: name.offset, message: `reserved identifier: ${name.text}` });
    if (!call) return { op: 'ident', offset: name.offset, name: name.text };
    const open = this.#tokens.take();
    return this.#call(open.offset, name.text, this.#list(')'));
  }

  #listLiteral(): List {
    const { offset } = this.#tokens.take();
    const items: Expr[] = [];
    const optional = new Set<number>();
    while (!this.#tokens.is(']')) {
      if (this.#tokens.skip('?')) optional.add(items.length);
      items.push(this.#expr());
      if (!this.#tokens.skip(',')) break;
    }
    this.#tokens.expect(']');
    return this.#nesting.beside({ op: 'list', offset, items, optional }, items);
  }

  #entries(map: boolean): Entry[] {
    const found: Entry[] = [];
    while (!this.#tokens.is('}')) {
      const optional = this.#tokens.skip('?');
      const key = map ? { key: this.#expr() } : { field: this.#tokens.fieldName() };
      const { offset } = this.#tokens.expect(':');
      found.push({ offset, ...key, value: this.#expr(), optional });
      if (!this.#tokens.skip(',')) break;
    }
    this.#tokens.expect('}');
    return found;
  }

  #struct(offset: number, type?: string): Expr {
    const entries = this.#entries(type === undefined);
    const expr: Expr = { op: 'struct', offset, entries, ...(type !== undefined && { type }) };
    return this.#nesting.beside(expr, children(expr));
  }
}
