import { expect, it } from 'vitest';
import { judge } from '../../../../kube/cel/compile.ts';
import { policyDeclarations, variableType } from '../../../../kube/cel/typed/messages.ts';
import { type CelType, dyn, formatType } from '../../../../kube/cel/typed/types.ts';

it('types that double with each variable end: what is too large may be anything', () => {
  const variables = new Map<string, CelType>();
  const declarations = policyDeclarations({ params: false, variables });
  variables.set('v0', dyn);
  for (let i = 1; i <= 40; i++) {
    const last = `variables.v${i - 1}`;
    const { checked } = judge(`{'a': [${last}], 'b': [${last}]}.map(k, {${last}: ${last}})`, declarations);
    variables.set(`v${i}`, checked ? variableType(checked.type) : dyn);
  }
  for (const type of variables.values()) expect(formatType(type).length).toBeLessThan(10_000);
});

it.each([30, 100])('%i maps of maps are judged', (count) => {
  const declarations = policyDeclarations({ params: false, variables: new Map() });
  const { checked } = judge(`[1]${'.map(a, {a: a})'.repeat(count)}`, declarations);
  expect(formatType(checked?.type ?? dyn).length).toBeLessThan(10_000);
});

const plain = () => policyDeclarations({ params: false, variables: new Map() });
/** As many of them as one expression can have. */
const many = (one: string, separator: string) =>
  Array(Math.floor(99_000 / (one.length + separator.length)))
    .fill(one)
    .join(separator);

it('what macros copy is bounded for the whole expression, not for one call', () => {
  const copies = many(`object.?a${'.optMap(x, x)'.repeat(6)}.hasValue()`, '&&');
  const before = process.cpuUsage();
  expect(judge(copies, plain()).problem).toContain('Syntax error');
  expect(process.cpuUsage(before).user).toBeLessThan(1_500_000);
  expect(judge(many('object.?a.optMap(x, x).hasValue()', '&&'), plain()).problem).toBeUndefined();
});

it('problems behind many lines are found without reading all of them for each', () => {
  const before = process.cpuUsage();
  const { problem } = judge('\n'.repeat(90_000) + Array(150).fill('a').join(' && '), plain());
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  expect(problem).toContain("ERROR: <input>:90001:1: undeclared reference to 'a'");
  expect(problem?.length).toBeLessThan(25_000);
});

it('where more is to be inferred than is, the rest is as it says, and fits', () => {
  const variables = new Map<string, CelType>([['v', dyn]]);
  const declarations = policyDeclarations({ params: false, variables });
  for (let i = 0; i < 6; i++) {
    const last = i === 0 ? '1' : 'variables.v';
    const { checked } = judge(`{1: [${last}]}.map(k, {[${last}]: [${last}]})`, { ...declarations });
    variables.set('v', checked ? variableType(checked.type) : dyn);
  }
  const { problem, checked } = judge(many('variables.v==variables.v', '&&'), declarations);
  expect([problem, checked?.type.kind]).toEqual([undefined, 'bool']);
});

it('types of types that double with each macro end', () => {
  const before = process.cpuUsage();
  const { checked, problem } = judge(`[1]${'.map(a, {type(a): type(a)})'.repeat(100)}`, plain());
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  expect(problem).toBeUndefined();
  expect(formatType(checked?.type ?? dyn).length).toBeLessThan(10_000);
});

it('judgements are kept by what they are of, not for ever', () => {
  const declarations = plain();
  const first = judge('object.a == 1', declarations);
  expect(judge('object.a == 1', declarations)).toBe(first);
  for (let i = 0; i < 2; i++) judge(`'${'a'.repeat(60_000)}' == '${i}'`, declarations);
  expect(judge('object.a == 1', declarations)).not.toBe(first);
});
