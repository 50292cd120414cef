import type { Token } from './lexer.ts';

/** Not by CEL's grammar. */
export class Unparsable extends Error {}

/** Nested deeper than cel-go reads. */
export class TooDeep extends Error {}

const constants = ['true', 'false', 'null'];

/** Words that may not be names. */
export const reserved: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Tokens, and which is next. */
export class Cursor {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)] as Token;
  }

  take(count = 1): Token {
    const token = this.peek();
    this.#next += count;
    return token;
  }

  is(text: string, ahead = 0): boolean {
    const { kind, text: found } = this.peek(ahead);
    return (kind === 'symbol' || (kind === 'ident' && text === 'in')) && found === text;
  }

  skip(text: string): boolean {
    if (!this.is(text)) return false;
    this.#next++;
    return true;
  }

  expect(text: string): Token {
    if (!this.is(text)) throw new Unparsable();
    return this.take();
  }

  isConstant(): boolean {
    const { kind, text } = this.peek();
    return kind === 'ident' && constants.includes(text);
  }

  name(): Token {
    if (this.isConstant()) throw new Unparsable();
    const token = this.take();
    if (token.kind !== 'ident' || token.text === 'in') throw new Unparsable();
    return token;
  }

  /** `a.b.C` when a brace comes after it, which is then the next token. */
  messageName(first: string): string | undefined {
    let ahead = 0;
    let name = first;
    while (this.is('.', ahead) && this.peek(ahead + 1).kind === 'ident') {
      name += `.${this.peek(ahead + 1).text}`;
      ahead += 2;
    }
    if (!this.is('{', ahead)) return undefined;
    this.take(ahead);
    return name;
  }

  /** Of a message, which may be named by any word. */
  fieldName(): string {
    const token = this.take();
    if (token.kind !== 'ident') throw new Unparsable();
    return token.text;
  }
}
