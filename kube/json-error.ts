import { quoteGo } from './quote.ts';

export class JsonSyntaxError extends Error {
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
  }
}

/** Of the character at `offset`, or of the end of the text: Go's words. */
export function unexpectedCharacter(text: string, offset: number, context: string): JsonSyntaxError {
  const code = text.codePointAt(offset);
  if (code === undefined) return new JsonSyntaxError('unexpected end of JSON input', offset);
  return new JsonSyntaxError(
    `invalid character ${quoteCharacter(String.fromCodePoint(code))} ${context}`,
    offset,
  );
}

/** Go looks at bytes: of a letter that takes several it shows the first. */
function quoteCharacter(c: string): string {
  if (c === "'") return "'\\''";
  if (c === '"') return `'"'`;
  const [byte = 0] = Buffer.from(c);
  return `'${quoteGo(String.fromCharCode(byte)).slice(1, -1)}'`;
}
