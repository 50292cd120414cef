import { expect, test } from 'vitest';
import { quoteGo } from '../../../kube/quote.ts';

test.each([
  ['plain text', '"plain text"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
  ['\0\x1b[31m\x7f', '"\\x00\\x1b[31m\\x7f"'],
  ['größe 日本 €', '"größe 日本 €"'],
  ['\u009b\u00a0\u2028\ufeff\u200b', '"\\u009b\\u00a0\\u2028\\ufeff\\u200b"'],
  ['\ud800x', '"\\ufffdx"'],
  ['\u{1f600}\u{e0001}', '"\u{1f600}\\U000e0001"'],
])('%j', (text, quoted) => {
  expect(quoteGo(text)).toBe(quoted);
});
