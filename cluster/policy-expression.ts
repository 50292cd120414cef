import { judge } from '../kube/cel/compile.ts';
import type { Declarations } from '../kube/cel/typed/environment.ts';
import { type CelType, declaredType, dyn, listOf, mapOf, string, struct } from '../kube/cel/typed/types.ts';

/** What a policy's expression sees of a PhysicalCluster: expression.ts makes it. */
const messages: Readonly<Record<string, ReadonlyMap<string, CelType>>> = {
  PhysicalCluster: new Map([
    ['name', string],
    ['labels', mapOf(string, string)],
    ['taints', listOf(struct('Taint'))],
    ['version', string],
    ['capacity', mapOf(string, string)],
    // A number, of whichever kind it is written as.
    ['cost', dyn],
  ]),
  Taint: new Map([
    ['key', string],
    ['value', string],
    ['effect', string],
  ]),
};

const declarations: Declarations = {
  variables: new Map([['cluster', struct('PhysicalCluster')]]),
  fields: (message) => {
    const known = Object.hasOwn(messages, message) ? messages[message] : undefined;
    return known && ((name) => known.get(name));
  },
};

/** What is wrong with an expression that nobody has evaluated yet: it could hold of no cluster, and would keep to itself why. */
export function expressionProblem(expression: string): string | undefined {
  const { problem, checked } = judge(expression, declarations);
  if (problem !== undefined) return `compilation failed: ${problem}`;
  const type = checked && declaredType(checked.type);
  return type === undefined || type === 'bool' || type === 'dyn'
    ? undefined
    : `must evaluate to bool but got ${type}`;
}
