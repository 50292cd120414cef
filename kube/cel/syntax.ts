/** Where a problem is: offsets of the first character and of the one after the last. */
export interface Span {
  start: number;
  end: number;
}

/** What the parser says of an expression that it cannot read. */
export interface Unreadable extends Span {
  summary: string;
}

const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const closing: Readonly<Record<string, (token: string) => string>> = {
  RPAREN: (token) => `missing ')' at '${token}'`,
  RBRACKET: (token) => `mismatched input '${token}' expecting {']', ','}`,
  RBRACE: (token) => `mismatched input '${token}' expecting {'}', ','}`,
  COLON: (token) => `mismatched input '${token}' expecting ':'`,
  IDENTIFIER: () => "no viable alternative at input '.'",
};

const longestLine = 16_384;

/** A problem in the form of the reference implementation, with the line that it is in; wide where UTF-8 is. */
export function located(input: string, offset: number, message: string): string {
  if (offset < 0) return `ERROR: <input>:-1:0: ${message}`;
  const start = offset === 0 ? 0 : input.lastIndexOf('\n', offset - 1) + 1;
  const end = input.indexOf('\n', start);
  let number = 1;
  for (let at = input.indexOf('\n'); at >= 0 && at < start; at = input.indexOf('\n', at + 1)) number++;
  const prefix = [...input.slice(start, offset)];
  const line = input.slice(start, end < 0 ? undefined : end).replaceAll('\t', ' ');
  const place = `ERROR: <input>:${number}:${input === '' ? 0 : prefix.length + 1}: ${message}`;
  if (input === '' || Buffer.byteLength(line) > longestLine) return place;
  const wide = (character: string | undefined) => (character ?? '') > '\x7f';
  const dots = prefix.map((character) => (wide(character) ? '\uff0e' : '.')).join('');
  return `${place}\n | ${line}\n | ${dots}${wide([...line][prefix.length]) ? '\uff3e' : '^'}`;
}

/** What the reference implementation's parser says, in its words; of several errors the first ones. */
export function syntaxProblem(input: string, { summary, start, end }: Unreadable): string {
  const ended = start >= input.length;
  const token = ended ? '<EOF>' : wordAt(input, start, end);
  const say = (message: string, offset = start) => located(input, offset, `Syntax error: ${message}`);
  const expected = /^Expected (\w+)/.exec(summary)?.[1] ?? '';
  if (Object.hasOwn(closing, expected)) return say(closing[expected]?.(token) ?? '');
  if (summary.startsWith('Unterminated string') || /^[@#$^~`\\;&|=]/.test(token)) {
    const rest = summary.startsWith('Unterminated') ? input.slice(start) : unknownAt(input, start);
    const next = start + rest.length;
    const first = say(`token recognition error at: '${rest}'`);
    return next < input.length
      ? `${first}\n${unexpected(input, next, wordAt(input, next, next + 1), say)}`
      : `${first}\n${say(`mismatched input '<EOF>' expecting ${operands}`, next)}`;
  }
  if (ended || summary.startsWith('Unexpected token'))
    return say(`mismatched input '${token}' expecting ${operands}`);
  return unexpected(input, start, token, say);
}

/** One token too many is taken away; of more, the first is told of. */
function unexpected(
  input: string,
  offset: number,
  token: string,
  say: (message: string, offset: number) => string,
): string {
  const last = input.slice(offset + token.length).trim() === '';
  return say(`${last ? 'extraneous' : 'mismatched'} input '${token}' expecting <EOF>`, offset);
}

function wordAt(input: string, start: number, end: number): string {
  return /^[\w]+/.exec(input.slice(start))?.[0] ?? input.slice(start, Math.max(end, start + 1));
}

/** A character that begins no token, with the space after it. */
function unknownAt(input: string, start: number): string {
  return /^[^\w\s]\s?/.exec(input.slice(start))?.[0] ?? input.slice(start, start + 1);
}
