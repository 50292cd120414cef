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
  const c = text[offset];
  if (c === undefined) return new JsonSyntaxError('unexpected end of JSON input', offset);
  return new JsonSyntaxError(`invalid character ${quoteCharacter(c)} ${context}`, offset);
}

function quoteCharacter(c: string): string {
  if (c === "'") return "'\\''";
  if (c === '"') return `'"'`;
  return `'${JSON.stringify(c).slice(1, -1)}'`;
}
