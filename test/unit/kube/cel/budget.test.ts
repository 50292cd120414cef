import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Budget, CostExceeded, compileCondition, compileRule } from '../../../../kube/cel/rule.ts';
import { patienceMs } from '../../../eventually.ts';

const many = (count: number) => `[${Array.from({ length: count }, (_, i) => i + 1).join(',')}]`;
const l = many(6000);
const doubled = (times: number) =>
  Array.from({ length: times }).reduce<string>((text) => `[${text}].map(s, s + s)[0]`, "'abcdefgh'");

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
