import { expect, test } from 'vitest';
import { regex, regexProblem } from '../../../kube/regex.ts';
import { regexSize } from '../../../kube/regex-size.ts';

const large = 'a{1000}'.repeat(1000);

test.each([
  ['what repeats much', large],
  ['what repeats groups', '(ab{1,500}){2}'.repeat(100)],
  ['after text that looks like the start of a class', `\\Q[\\E${large}`],
  ['after a class with a bracket', `[]a]${large}`],
  ['after a class with an escaped bracket', `[\\]]${large}`],
  ['beside alternatives', `(x|${large})|y`],
  ['at least so often', 'a{1000,}'.repeat(100)],
])('an expression that becomes too much is none: %s', (_, expression) => {
  expect(regex(expression)).toBeUndefined();
  expect(regexProblem(expression)).toBe('error parsing regexp: expression too large');
});

test.each([
  ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 300],
  ['^.{0,1000}$', 3000],
  ['(a{10}){10}', 400],
  ['{1000}', 10],
  ['[{1000}]', 10],
  ['a'.repeat(10_000), 20_000],
])('%.40s is not', (expression, most) => {
  expect(regexSize(expression)).toBeLessThanOrEqual(most);
});

test('what others use is used by them still', () => {
  expect(regex('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')?.test('team-a')).toBe(true);
  expect(regex('(a{10}){10}')?.test('a'.repeat(100))).toBe(true);
});
