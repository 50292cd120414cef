import { unexpectedCharacter } from './json-error.ts';
import { isHex } from './json-text.ts';

/** The string whose quotation mark is at `at`, and where it ends. Throws JsonSyntaxError. */
export function stringAt(text: string, at: number): { value: string; end: number } {
  let end = at + 1;
  for (;;) {
    const c = text.charCodeAt(end);
    if (c === 0x22) return { value: text.slice(at + 1, end).toWellFormed(), end: end + 1 };
    if (c === 0x5c || !(c >= 0x20)) return escapedAt(text, at, end);
    end++;
  }
}

function escapedAt(text: string, at: number, firstEscape: number): { value: string; end: number } {
  let i = firstEscape;
  for (;;) {
    const c = text[i];
    if (c === '"') break;
    if (c === '\\') {
      i = endOfEscape(text, i + 1);
      continue;
    }
    if (c === undefined || c < ' ') throw unexpectedCharacter(text, i, 'in string literal');
    i++;
  }
  const value: string = JSON.parse(text.slice(at, i + 1));
  return { value: value.toWellFormed(), end: i + 1 };
}

function endOfEscape(text: string, at: number): number {
  const c = text[at];
  if (c !== 'u') {
    if (c === undefined || !'"\\/bfnrt'.includes(c))
      throw unexpectedCharacter(text, at, 'in string escape code');
    return at + 1;
  }
  for (let i = at + 1; i < at + 5; i++) {
    if (!isHex(text.charCodeAt(i))) throw unexpectedCharacter(text, i, 'in \\u hexadecimal character escape');
  }
  return at + 5;
}
