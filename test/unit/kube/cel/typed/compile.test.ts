import { describe, expect, it } from 'vitest';
import { compile } from '../../../../../kube/cel/typed/compile.ts';
import { costOf } from '../../../../../kube/cel/typed/cost.ts';
import { ruleDeclarations, schemaType, sizeIn } from '../../../../../kube/cel/typed/schema-type.ts';
import { costs } from './costs.ts';
import { problems, schema } from './problems.ts';

const self = schemaType(schema, true, 'selfType');
if (!self) throw new Error('the schema has no type');
const declarations = ruleDeclarations(self, false);

describe('a rule of a custom resource', () => {
  it.each(problems)('%s is told of as cel-go does', (expression, told) => {
    const compiled = compile(expression, declarations);
    const problem = compiled && 'problem' in compiled ? compiled.problem : '';
    const found = [...problem.matchAll(/^ERROR: <input>:1:(\d+): (.*)$/gm)];
    expect(found.map(([, column, message]) => `${column}: ${message}`)).toEqual(told);
  });

  it.each(costs)('%s costs %d at most', (expression, cost) => {
    const compiled = compile(expression, declarations);
    if (!compiled || 'problem' in compiled) throw new Error(compiled?.problem);
    expect(costOf(compiled.checked, sizeIn(self)).max).toBe(cost);
  });

  it('compares what was there as an optional where a rule asks for it', () => {
    const compiled = compile('oldSelf.orValue(self) == self', ruleDeclarations(self, true));
    expect(compiled).toHaveProperty('checked');
  });

  it('is not by the grammar', () => expect(compile('self.', declarations)).toBeUndefined());
});

describe('an expression that is too much', () => {
  it.each([
    [
      'nested too deep',
      `${'('.repeat(251)}true${')'.repeat(251)}`,
      'expression recursion limit exceeded: 250',
    ],
    ['a chain that is too long', `1${'+1'.repeat(250)} == 1`, 'max recursion depth exceeded'],
    [
      'too many characters',
      `self == "${'a'.repeat(100_001)}"`,
      'expression code point size exceeds limit: size: 100011, limit 100000',
    ],
  ])('%s', (_, expression, problem) => {
    expect(compile(expression, declarations)).toMatchObject({ problem: `ERROR: <input>:-1:0: ${problem}` });
  });

  it.each([
    ['logical operators, which nest flat', `true${' && true'.repeat(3000)}`],
    ['as deep as can be', `${'('.repeat(249)}true${')'.repeat(249)}`],
  ])('%s', (_, expression) => {
    expect(compile(expression, declarations)).toHaveProperty('checked');
  });

  it('is not copied without end', () => {
    expect(compile(`self.?s${'.optMap(x, x)'.repeat(100)}`, declarations)).toBeUndefined();
  });
});
