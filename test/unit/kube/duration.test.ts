import { expect, test } from 'vitest';
import { DurationError, parseDuration } from '../../../kube/duration.ts';

test.each([
  ['0', 0],
  ['34s', 34_000],
  ['1.5h', 5_400_000],
  ['-2m', -120_000],
  ['2h45m', 9_900_000],
  ['.5s', 500],
  ['1µs', 0.001],
])('%s', (text, millis) => {
  expect(parseDuration(text)).toBeCloseTo(millis, 9);
});

test('another unit counts for who names it, and for nobody else', () => {
  expect(parseDuration('1d12h', { d: 86_400_000 })).toBe(129_600_000);
  expect(() => parseDuration('1d')).toThrow('time: unknown unit "d" in duration "1d"');
});

test.each([
  ['', 'time: invalid duration ""'],
  ['5', 'time: missing unit in duration "5"'],
  ['5x', 'time: unknown unit "x" in duration "5x"'],
  ['abc', 'time: invalid duration "abc"'],
  ['1s\n', 'time: unknown unit "s\\x0a" in duration "1s\\x0a"'],
  ['9999999999h', 'time: invalid duration "9999999999h"'],
  ['1__proto__', 'time: unknown unit "__proto__" in duration "1__proto__"'],
])('%j is refused', (text, message) => {
  expect(() => parseDuration(text)).toThrow(new DurationError(message));
});
