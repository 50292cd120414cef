export interface Token {
  kind: 'ident' | 'quoted' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'symbol' | 'end';
  text: string;
  offset: number;
}

/** Tried in this order at each place; those without a kind are skipped. */
const rules: readonly (readonly [Token['kind'] | undefined, RegExp])[] = [
  [undefined, /[\t \r\n\f]+/y],
  [undefined, /\/\/[^\n]*/y],
  ['double', /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ['uint', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['int', /0x[0-9a-fA-F]+|\d+/y],
  ['bytes', /[bB](?=[rR]?["'])/y],
  ['string', /[rR]?(?="""|'''|"|')/y],
  ['ident', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['quoted', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['symbol', /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y],
];

const escaped = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;
const texts: readonly RegExp[] = [
  new RegExp(String.raw`"""(?:${escaped}|[^\\])*?"""`, 'y'),
  new RegExp(String.raw`'''(?:${escaped}|[^\\])*?'''`, 'y'),
  new RegExp(String.raw`"(?:${escaped}|[^\\"\n\r])*"`, 'y'),
  new RegExp(String.raw`'(?:${escaped}|[^\\'\n\r])*'`, 'y'),
];
const rawTexts: readonly RegExp[] = [/"""[\s\S]*?"""/y, /'''[\s\S]*?'''/y, /"[^"\n\r]*"/y, /'[^'\n\r]*'/y];

const symbolFirst = new Set('()[]{},:?+*%<>=!&|-');
const symbols = rules.slice(-1);

/** The tokens of CEL's grammar, an `end` last; undefined where there is something that is none. */
export function tokens(input: string): Token[] | undefined {
  const found: Token[] = [];
  let offset = 0;
  next: while (offset < input.length) {
    for (const [kind, pattern] of symbolFirst.has(input[offset] ?? '') ? symbols : rules) {
      const text = matchAt(pattern, input, offset);
      if (text === undefined) continue;
      if (kind === 'string' || kind === 'bytes') {
        const literal = textAt(input, offset + (kind === 'bytes' ? 1 : 0));
        if (literal === undefined) return undefined;
        found.push({ kind, text: literal, offset });
        offset += literal.length + (kind === 'bytes' ? 1 : 0);
      } else {
        if (kind) found.push({ kind, text, offset });
        offset += text.length;
      }
      continue next;
    }
    return undefined;
  }
  found.push({ kind: 'end', text: '<EOF>', offset: input.length });
  return found;
}

function textAt(input: string, start: number): string | undefined {
  const raw = /[rR]/.test(input[start] ?? '');
  for (const pattern of raw ? rawTexts : texts) {
    const text = matchAt(pattern, input, start + (raw ? 1 : 0));
    if (text !== undefined) return input.slice(start, start + (raw ? 1 : 0)) + text;
  }
  return undefined;
}

function matchAt(pattern: RegExp, input: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(input)?.[0];
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** The value of a string literal with its quotes and prefix; bytes as a string of one character each. */
export function unquoted(literal: string, asBytes = false): string {
  const raw = /^[rR]/.test(literal);
  const quoted = (raw ? literal.slice(1) : literal).replace(/\r\n?/g, '\n');
  const width = /^("""|''')/.test(quoted) && quoted.length >= 6 ? 3 : 1;
  const inside = quoted.slice(width, -width);
  // What is written as it is counts as UTF-8, what is escaped as the byte that it says.
  const text = asBytes ? Buffer.from(inside).toString('latin1') : inside;
  if (raw) return text;
  return text.replace(/\\([xX][0-9a-fA-F]{2}|u.{4}|U.{8}|[0-3][0-7]{2}|.)/gs, (_, code: string) => {
    if (/^[xXuU]./.test(code)) return codePoint(Number.parseInt(code.slice(1), 16));
    if (/^\d/.test(code)) return codePoint(Number.parseInt(code, 8));
    return escapes[code] ?? code;
  });
}

function codePoint(code: number): string {
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}
