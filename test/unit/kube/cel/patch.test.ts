import { expect, test } from 'vitest';
import { applyConfigurationIn, jsonPatchIn } from '../../../../kube/cel/patch.ts';
import { Budget, CostExceeded, compilePolicyExpression } from '../../../../kube/cel/rule.ts';

const none = { object: null, oldObject: null, request: null, params: null, namespaceObject: null };

function evaluated(expression: string): unknown {
  const run = compilePolicyExpression(expression);
  if (run instanceof Error) throw run;
  return run({ ...none, variables: {} }, new Budget());
}

const ten = (list: string) => `[${list}].map(a, [a, a, a, a, a, a, a, a, a, a])[0]`;
/** Few steps, and ten to the twelfth values. */
const nested = Array.from({ length: 12 }).reduce<string>(ten, '1');
const long = Array.from({ length: 20 }).reduce<string>((text) => `[${text}].map(s, s + s)[0]`, "'a'");

test.each([
  ['lists of lists', nested],
  ['a text that many share', `[${long}].map(s, lists.range(1000).map(i, s))`],
])('what an expression shares is no bomb as JSON: %s', (_, value) => {
  const patch = evaluated(`[JSONPatch{op: 'add', path: '/data', value: ${value}}]`);
  expect(() => jsonPatchIn(patch, new Budget())).toThrow(CostExceeded);
  const configuration = evaluated(`Object{data: ${value}}`);
  expect(() => applyConfigurationIn(configuration, new Budget())).toThrow(CostExceeded);
});

test('what is small is JSON', () => {
  const patch = evaluated(
    `[JSONPatch{op: 'add', path: '/data', value: {'a': [1, 2u, 1.5, 'b', true, null]}}]`,
  );
  expect(jsonPatchIn(patch, new Budget())).toEqual([
    { op: 'add', path: '/data', value: { a: [1, 2, 1.5, 'b', true, null] } },
  ]);
});
