import { Cursor, reserved, TooDeep, Unparsable } from './cursor.ts';
import { children, type Entry, type Expr, type Issue, type List, type Literal } from './expr.ts';
import { tokens } from './lexer.ts';
import { readLiteral } from './literal.ts';
import { expandMacro } from './macros.ts';
import { deepest, Nesting } from './nesting.ts';

const nothing: Literal = { op: 'literal', at: 0, type: 'null_type', value: null };

/** Reads an expression and expands its macros; undefined when it is not by the grammar. */
export function parse(input: string, bindings = false): { expr: Expr; issues: Issue[] } | undefined {
  const list = tokens(input);
  if (!list) return undefined;
  try {
    const parser = new Parser(new Cursor(list), bindings);
    return { expr: parser.whole(), issues: parser.issues };
  } catch (error) {
    if (error instanceof Unparsable) return undefined;
    if (error instanceof TooDeep) return { expr: nothing, issues: [{ at: -1, message: error.message }] };
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
  readonly #at: Cursor;
  readonly #bindings: boolean;
  #depth = 0;
  readonly #nesting = new Nesting();

  constructor(at: Cursor, bindings: boolean) {
    this.#at = at;
    this.#bindings = bindings;
  }

  whole(): Expr {
    const expr = this.#expr();
    if (this.#at.peek().kind !== 'end') throw new Unparsable();
    return expr;
  }

  #expr(): Expr {
    if (++this.#depth > deepest) throw new TooDeep(`expression recursion limit exceeded: ${deepest}`);
    const condition = this.#binary(0);
    let expr = condition;
    if (this.#at.is('?')) {
      const { at } = this.#at.take();
      const yes = this.#binary(0);
      this.#at.expect(':');
      const args = [condition, yes, this.#expr()];
      expr = this.#nesting.around({ op: 'call', at, name: '_?_:_', args }, ...args);
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
      const operator = operators.find((text) => this.#at.is(text));
      if (operator === undefined) return left;
      const { at } = this.#at.take();
      const name = operator === 'in' ? '@in' : `_${operator}_`;
      const args = [left, this.#binary(level + 1)];
      left = this.#nesting.around({ op: 'call', at, name, args }, ...args);
    }
  }

  /** `a && b && c` as a tree that is as flat as can be. */
  #logical(level: number, operator: string): Expr {
    const terms = [this.#binary(level + 1)];
    const places: number[] = [];
    while (this.#at.is(operator)) {
      places.push(this.#at.take().at);
      terms.push(this.#binary(level + 1));
    }
    const tree = (low: number, high: number): Expr => {
      if (low > high) return terms[low] ?? nothing;
      const middle = Math.floor((low + high + 1) / 2);
      const args = [tree(low, middle - 1), tree(middle + 1, high)];
      return this.#nesting.beside({ op: 'call', at: places[middle] ?? 0, name: `_${operator}_`, args }, args);
    };
    return tree(0, places.length - 1);
  }

  #unary(): Expr {
    const literal = this.#at.is('-') && ['int', 'double'].includes(this.#at.peek(1).kind);
    const operator = this.#at.is('!') ? '!' : this.#at.is('-') && !literal ? '-' : undefined;
    if (operator === undefined) return this.#member();
    const { at } = this.#at.peek();
    let count = 0;
    while (this.#at.skip(operator)) count++;
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#nesting.beside({ op: 'call', at, name: `${operator}_`, args: [operand] }, [operand]);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      if (this.#at.is('.')) expr = this.#field(expr);
      else if (this.#at.is('[')) {
        const { at } = this.#at.take();
        const name = this.#at.skip('?') ? '_[?_]' : '_[_]';
        const args = [expr, this.#expr()];
        expr = this.#nesting.around({ op: 'call', at, name, args }, ...args);
        this.#at.expect(']');
      } else return expr;
    }
  }

  #field(of: Expr): Expr {
    const { at } = this.#at.take();
    const optional = this.#at.skip('?');
    const token = this.#at.peek();
    if (token.kind === 'quoted') throw new Unparsable();
    const field = this.#at.name();
    if (optional) {
      const name: Literal = { op: 'literal', at: field.at, type: 'string', value: field.text };
      return this.#nesting.around({ op: 'call', at, name: '_?._', args: [of, name] }, of);
    }
    if (!this.#at.is('('))
      return this.#nesting.around({ op: 'select', at, of, field: field.text, test: false }, of);
    const open = this.#at.take();
    return this.#call(open.at, field.text, this.#list(')'), of);
  }

  #call(at: number, name: string, args: Expr[], target?: Expr): Expr {
    const call = { op: 'call' as const, at, name, args, ...(target && { target }) };
    const inner = target ? [target, ...args] : args;
    if (target) this.#nesting.around(call, ...inner);
    else this.#nesting.beside(call, inner);
    const expanded = expandMacro(call, this.#bindings);
    if (!expanded) return call;
    if ('message' in expanded) {
      this.issues.push(expanded);
      return { op: 'literal', at: expanded.at, type: 'null_type', value: null };
    }
    this.#nesting.replace(call, expanded);
    return expanded;
  }

  #list(end: string): Expr[] {
    const found: Expr[] = [];
    if (this.#at.skip(end)) return found;
    do found.push(this.#expr());
    while (this.#at.skip(','));
    this.#at.expect(end);
    return found;
  }

  #primary(): Expr {
    const token = this.#at.peek();
    if (token.kind === 'symbol') {
      if (token.text === '(') {
        this.#at.take();
        const inner = this.#expr();
        this.#at.expect(')');
        return inner;
      }
      if (token.text === '[') return this.#listLiteral();
      if (token.text === '{') return this.#struct(this.#at.take().at);
      if (token.text === '.') {
        this.#at.take();
        return this.#named();
      }
    }
    return token.kind === 'ident' && !this.#at.isConstant()
      ? this.#named()
      : readLiteral(this.#at, this.issues);
  }

  #named(): Expr {
    const name = this.#at.name();
    const message = this.#messageName(name.text);
    if (message !== undefined) return this.#struct(this.#at.take().at, message);
    const call = this.#at.is('(');
    if (reserved.has(name.text))
      this.issues.push({ at: name.at, message: `reserved identifier: ${name.text}` });
    if (!call) return { op: 'ident', at: name.at, name: name.text };
    const open = this.#at.take();
    return this.#call(open.at, name.text, this.#list(')'));
  }

  /** `a.b.C` when a brace comes after it, which is then the next token. */
  #messageName(first: string): string | undefined {
    let ahead = 0;
    let name = first;
    while (this.#at.is('.', ahead) && this.#at.peek(ahead + 1).kind === 'ident') {
      name += `.${this.#at.peek(ahead + 1).text}`;
      ahead += 2;
    }
    if (!this.#at.is('{', ahead)) return undefined;
    this.#at.take(ahead);
    return name;
  }

  #listLiteral(): List {
    const { at } = this.#at.take();
    const items: Expr[] = [];
    const optional = new Set<number>();
    while (!this.#at.is(']')) {
      if (this.#at.skip('?')) optional.add(items.length);
      items.push(this.#expr());
      if (!this.#at.skip(',')) break;
    }
    this.#at.expect(']');
    return this.#nesting.beside({ op: 'list', at, items, optional }, items);
  }

  #entries(map: boolean): Entry[] {
    const found: Entry[] = [];
    while (!this.#at.is('}')) {
      const optional = this.#at.skip('?');
      const key = map ? { key: this.#expr() } : { field: this.#fieldName() };
      const { at } = this.#at.expect(':');
      found.push({ at, ...key, value: this.#expr(), optional });
      if (!this.#at.skip(',')) break;
    }
    this.#at.expect('}');
    return found;
  }

  #struct(at: number, type?: string): Expr {
    const entries = this.#entries(type === undefined);
    const expr: Expr = { op: 'struct', at, entries, ...(type !== undefined && { type }) };
    return this.#nesting.beside(expr, children(expr));
  }

  #fieldName(): string {
    const token = this.#at.take();
    if (token.kind !== 'ident') throw new Unparsable();
    return token.text;
  }
}
