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
