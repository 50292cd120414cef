import { expect, test } from 'vitest';
import { refusalAfter } from '../../../../../apiserver/admission/template/words.ts';

test.each([
  ['a time', 'denied at 2026-01-02T03:04:05.123Z', 'denied at 2026-11-12T13:14:15Z'],
  [
    'an id',
    'request 1f3a2b4c-aaaa-bbbb-cccc-dddddddddddd: no',
    'request abcdefab-1234-5678-9012-abcdefabcdef: no',
  ],
  ['a duration', 'no answer within 130µs', 'no answer within 2ms'],
  ['a number', 'used 5 of 4 (try 1)', 'used 6 of 4 (try 12)'],
])('another text with %s is told once', (_what, first, next) => {
  expect(refusalAfter({ refused: first }, next)).toEqual({ refused: first });
});

test('other words are told, so often of one template', () => {
  expect(refusalAfter(undefined, 'no')).toEqual({ refused: 'no' });
  expect(refusalAfter({ patch: [] }, 'no')).toEqual({ refused: 'no' });
  expect(refusalAfter({ refused: 'no' }, 'never')).toEqual({ refused: 'never', times: 1 });
  let said = refusalAfter(undefined, 'word');
  const written = new Set<string>();
  for (let n = 0; n < 100; n++) {
    said = refusalAfter(said, 'word '.repeat(n + 2));
    written.add(JSON.stringify(said));
  }
  expect(written.size).toBe(16);
});

test('a text of letters alone is looked through once', () => {
  const said = { refused: 'a'.repeat(4096), times: 1 };
  const began = process.cpuUsage();
  for (let n = 0; n < 100; n++) expect(refusalAfter(said, 'b'.repeat(4096)).times).toBe(2);
  const { user, system } = process.cpuUsage(began);
  // Microseconds; from each letter to the end it is five seconds.
  expect(user + system).toBeLessThan(1_000_000);
});

test('of a long one its beginning is kept, and compared', () => {
  const long = 'word '.repeat(2000);
  const said = refusalAfter(undefined, long);
  expect(said.refused).toHaveLength(4096);
  expect(refusalAfter(said, `${long}!`)).toEqual(said);
});
