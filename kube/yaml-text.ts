import { YamlError } from './yaml-error.ts';

/**
 * The text of a YAML document: UTF-8, or UTF-16 where its mark says so. Throws YamlError in the words of Kubernetes' reader
 * for the first bytes that are no text, or none that YAML has.
 */
export function yamlText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const wide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const text = wide ? wideText(bytes, first === 0xff) : narrowText(bytes);
  if (foreign.test(text)) throw new YamlError('control characters are not allowed');
  return text;
}

/** All but what YAML calls printable; https://yaml.org/spec/1.1/#id868518 */
const foreign = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function narrowText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new YamlError(problemOf(bytes), error);
  }
}

/** How many bytes a character has that begins so, and what is left of the first without them. */
function leading(octet: number): { width: number; value: number } | undefined {
  if (octet < 0x80) return { width: 1, value: octet };
  if ((octet & 0xe0) === 0xc0) return { width: 2, value: octet & 0x1f };
  if ((octet & 0xf0) === 0xe0) return { width: 3, value: octet & 0x0f };
  return (octet & 0xf8) === 0xf0 ? { width: 4, value: octet & 0x07 } : undefined;
}

const least = [0, 0, 0x80, 0x800, 0x10000];

/** What is wrong with bytes that are no UTF-8, or stand behind what is no character of YAML's. */
function problemOf(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length; ) {
    const lead = leading(bytes[at] ?? 0);
    if (lead === undefined) return 'invalid leading UTF-8 octet';
    const { width } = lead;
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence';
    let { value } = lead;
    for (const octet of bytes.subarray(at + 1, at + width)) {
      if ((octet & 0xc0) !== 0x80) return 'invalid trailing UTF-8 octet';
      value = (value << 6) | (octet & 0x3f);
    }
    if (value < (least[width] ?? 0)) return 'invalid length of a UTF-8 sequence';
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) return 'invalid Unicode character';
    if (foreign.test(String.fromCodePoint(value))) return 'control characters are not allowed';
    at += width;
  }
  return 'invalid Unicode character';
}

function wideText(bytes: Uint8Array, little: boolean): string {
  const even = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)));
  const text = (little ? even : even.swap16()).toString('utf16le');
  const at = /[\ud800-\udfff]/u.exec(text)?.index;
  if (at !== undefined) {
    if (text.charCodeAt(at) >= 0xdc00) throw new YamlError('unexpected low surrogate area');
    const isLast = at + 1 === text.length;
    throw new YamlError(isLast ? 'incomplete UTF-16 surrogate pair' : 'expected low surrogate area');
  }
  if (bytes.length % 2 === 1) throw new YamlError('incomplete UTF-16 character');
  return text;
}
