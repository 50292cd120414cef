const plain = /^[ !#-[\]-~]*$/;
const named: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** As Go's unicode.IsPrint. */
export function isPrintable(character: string): boolean {
  return printable.test(character);
}

/** Text in quotes as Go's %q has it: what messages hold of what somebody sent. No control character is left. */
export function quoteGo(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let out = '';
  for (const character of text) out += quoted(character);
  return `"${out}"`;
}

function quoted(character: string): string {
  if (Object.hasOwn(named, character)) return named[character] ?? '';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) {
    return code >= 0x20 && code < 0x7f ? character : `\\x${code.toString(16).padStart(2, '0')}`;
  }
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  if (printable.test(character)) return character;
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`;
}
