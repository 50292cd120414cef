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
