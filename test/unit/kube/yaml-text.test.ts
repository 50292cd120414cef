import { expect, test } from 'vitest';
import { decodeYaml } from '../../../kube/yaml.ts';
import { yamlText } from '../../../kube/yaml-text.ts';

const text = 'a: "grüße 😀"\n';
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const wide = Buffer.from(text, 'utf16le');

test.each([
  ['UTF-8', bytes(text)],
  ['UTF-8 with a mark', bytes([0xef, 0xbb, 0xbf], text)],
  ['UTF-16, its low bytes first', Buffer.concat([bytes([0xff, 0xfe]), wide])],
  ['UTF-16, its high bytes first', Buffer.concat([bytes([0xfe, 0xff]), Buffer.from(wide).swap16()])],
])('%s is read', (_, given) => {
  expect(yamlText(given)).toBe(text);
});

/** The words of kube-apiserver 1.36.3. */
test.each([
  ['Latin-1', bytes('a: gr', [0xfc], 'n'), 'invalid leading UTF-8 octet'],
  ['a character that ends too soon', bytes('a: ', [0xc3], '"'), 'invalid trailing UTF-8 octet'],
  ['half a character', bytes('a: ', [0xe2, 0x82]), 'incomplete UTF-8 octet sequence'],
  ['half a pair', bytes('a: ', [0xed, 0xa0, 0x80]), 'invalid Unicode character'],
  ['a longer form than there is', bytes('a: ', [0xc0, 0xaf]), 'invalid length of a UTF-8 sequence'],
  ['beyond Unicode', bytes('a: ', [0xf4, 0x90, 0x80, 0x80]), 'invalid Unicode character'],
  ['a control character', bytes('a: ', [1]), 'control characters are not allowed'],
  ['a control character before Latin-1', bytes('a: ', [1, 0xfc]), 'control characters are not allowed'],
  ['DEL', bytes('a: \x7f'), 'control characters are not allowed'],
  ['UTF-16 without a mark', wide, 'control characters are not allowed'],
  [
    'half a wide character',
    Buffer.concat([bytes([0xff, 0xfe]), wide, bytes('a')]),
    'incomplete UTF-16 character',
  ],
  ['a lone wide half', bytes([0xff, 0xfe, 0x00, 0xd8]), 'incomplete UTF-16 surrogate pair'],
  ['a wide half before another', bytes([0xff, 0xfe, 0x00, 0xd8, 0x61, 0]), 'expected low surrogate area'],
  ['the second wide half', bytes([0xff, 0xfe, 0x00, 0xdc]), 'unexpected low surrogate area'],
])('%s is refused', (_, given, why) => {
  expect(() => yamlText(given)).toThrow(`yaml: ${why}`);
});

test.each([
  ['a: \ufeff', { a: '\ufeff' }],
  ['a: b\ufeffc', { a: 'b\ufeffc' }],
  ['a: "\ufeff"', { a: '\ufeff' }],
  ['\ufeffa: b', { '\ufeffa': 'b' }],
])('a second mark is a character like others: %j', (body, value) => {
  const read = yamlText(bytes('\ufeffx: 1\n', body));
  expect(decodeYaml(read).value).toEqual({ x: 1, ...value });
});
