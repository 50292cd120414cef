import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Budget, CostExceeded, compileCondition, compileRule } from '../../../../kube/cel/rule.ts';
import { patienceMs } from '../../../eventually.ts';

const many = (count: number) => `[${Array.from({ length: count }, (_, i) => i + 1).join(',')}]`;
const l = many(6000);
const doubled = (times: number) =>
  Array.from({ length: times }).reduce<string>((text) => `[${text}].map(s, s + s)[0]`, "'abcdefgh'");

/** Of 2 ^ 14 characters. */
const long = doubled(11).replace('abcdefgh', 'aaaaaaaa');
/** A list of ten lists of ten lists, which are the same ones. */
const nested = (depth: number) =>
  Array.from({ length: depth }).reduce<string>(
    (list) => `${list}.map(a, [a, a, a, a, a, a, a, a, a, a])`,
    '[1]',
  );

/** Each would take longer than anybody waits, if nothing counted its steps. */
const hostile: [string, string][] = [
  ['loops in loops over literals', `${l}.all(x, ${l}.all(y, ${l}.all(z, x + y + z > 0)))`],
  ['a sum for each', `${l}.all(x, ${l}.sum() > 0)`],
  ['a bound list, a sum for each', `[${l}].all(l, l.all(x, l.sum() > 0))`],
  ['text that doubles', `${doubled(60)} == ''`],
  [
    'lists that double',
    `${Array.from({ length: 40 }).reduce<string>((list) => `[${list}].map(s, s + s)[0]`, l)} == []`,
  ],
  ['a product of lists', `${l}.map(x, ${l}.map(y, [x, y])).size() > 0`],
  ['membership for each', `${l}.all(x, ${l}.map(y, y + 6000).exists(y, y == x) || true)`],
  ['sets', `sets.contains(${l}, ${l}.map(x, x + 1))`],
  ['distinct', `${l}.distinct().size() == 0`],
  ['a long range', 'lists.range(1000000000).size() > 0'],
  ['a pattern for each', `${l}.all(x, '${'a'.repeat(2000)}!'.matches('^(a+)+$') || true)`],
  [
    'replacements that grow',
    `'${'a'.repeat(3000)}'.replace('a', '${'b'.repeat(3000)}').replace('b', '${'c'.repeat(3000)}') == ''`,
  ],
  ['joined by much', `${l}.map(x, 'a').join('${'b'.repeat(20000)}') == ''`],
  ['times in a zone for each', `${l}.all(x, ${l}.all(y, timestamp(y).getHours('America/New_York') >= 0))`],
  ['text that is long in a list that is sorted', `[${long}].map(s, ${l}.map(x, s).sort())`],
  ['text that is long in lists that are equal', `[${long}].all(s, ${l}.all(x, [s + 'a'] != [s + 'b']))`],
  ['the least of long texts', `[${long}].map(s, ${l}.map(x, s + 'a').min())`],
  [
    'long text that is looked for',
    `[${long}].all(s, !s.contains(s.substring(9000) + 'b' + s.substring(9000)))`,
  ],
  ['where long text is', `[${long}].all(s, s.indexOf(s.substring(9000) + 'b' + s.substring(9000)) < 0)`],
  [
    'all of a pattern that may go to the end',
    `[${long}].all(s, ${l}.all(x, s.findAll('a.*b|a').size() > 0))`,
  ],
  [
    'long text that is no number',
    `[${long}].all(s, ${l}.exists(x, double(s.replace('a', '1') + 'x') > 0.0))`,
  ],
  [
    'long text that is no duration',
    `[${long}.replace('a', '1')].all(s, ${l}.exists(x, duration(s) > duration('1s')))`,
  ],
  ['lists of lists as text', `${nested(12)}.map(x, '%s'.format([x]))`],
  ['long text in lists as text', `[${long}].map(s, '%s'.format([${l}.map(x, s)]))`],
  [
    'the parameters of an address',
    `['/?' + ${l}.map(x, 'a' + string(x)).join('&')].map(s, ${l}.map(x, url(s).getQuery()))`,
  ],
  [
    'the size of a large map for each',
    `[${l}.transformMapEntry(i, v, {v: v})].all(m, ${l}.all(x, m.size() > 0))`,
  ],
  ['failures that another may settle', `${l}.all(x, ${l}.all(y, 1 / 0 == x) || ${l}.exists(y, 1 / 0 == y))`],
];

/** Ends by an error what would never end: no timer of this process could. */
const bounded = (run: () => unknown) => runInNewContext('run()', { run }, { timeout: patienceMs });

test.each(hostile)('%s: ends when its steps are spent', (_, expression) => {
  const rule = compileRule(expression);
  if (rule instanceof Error) throw rule;
  const budget = new Budget();
  expect(() => bounded(() => rule.run({ self: null }, budget))).toThrow(CostExceeded);
  expect(budget.isSpent).toBe(true);
});

test('a budget is shared by expressions, and the last one ends it', () => {
  const budget = new Budget(20_000);
  const condition = compileCondition(`${l}.all(x, x > 0)`);
  if (condition instanceof Error) throw condition;
  const run = () =>
    budget.within((share) => condition({ object: null, oldObject: null, request: null }, share));
  expect(run).toThrow('operation cancelled: actual cost limit exceeded');
  expect(budget.isSpent).toBe(true);
});

test('what is cheap enough is answered whatever its literals are', () => {
  const rule = compileRule(`${l}.all(x, x > 0) && ${l}.sum() == 18003000`);
  if (rule instanceof Error) throw rule;
  expect(rule.run({ self: null }, new Budget())).toBe(true);
});

test.each(['a +', "'", 'a b', '@x', 'self.x(', '1 ? 2'])('%s: not by the grammar, and not run', (text) => {
  expect(compileRule(text)).toBeInstanceOf(Error);
});
