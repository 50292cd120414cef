import { Environment } from '@marcbachmann/cel-js';
import { regex } from '../regex.ts';
import { formatString } from './format.ts';
import { registerFormats } from './formats.ts';
import { registerNetwork } from './network.ts';
import { registerQuantity } from './quantity.ts';

/**
 * The language of validation rules: CEL with Kubernetes' extensions. Values are as value.ts makes them.
 * https://kubernetes.io/docs/reference/using-api/cel/
 */
export function createEnvironment(variables: readonly string[]): Environment {
  const env = new Environment({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 20_000, maxDepth: 250 },
  });
  for (const name of variables) env.registerVariable(name, 'dyn');
  registerStrings(env);
  registerLists(env);
  registerQuantity(env);
  registerNetwork(env);
  registerFormats(env);
  return env;
}

function pattern(expression: string) {
  const compiled = regex(expression);
  if (!compiled) throw new Error(`error parsing regexp: ${expression}`);
  return compiled;
}

function findAll(text: string, expression: string, limit: number): string[] {
  const matcher = pattern(expression).matcher(text);
  const found: string[] = [];
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

function replace(text: string, from: string, to: string, limit: number): string {
  if (limit < 0) return text.split(from).join(to);
  const parts = text.split(from);
  const head = parts.slice(0, limit + 1).join(to);
  return [head, ...parts.slice(limit + 1)].join(from);
}

function registerStrings(env: Environment): void {
  env
    // `matches` itself is JavaScript's, which a hostile expression can stall: rules are rewritten to call this one.
    .registerFunction('string.matchesRe2(string): bool', (text: string, expression: string) =>
      pattern(expression).test(text),
    )
    .registerFunction('string.find(string): string', (text: string, expression: string) =>
      findAll(text, expression, 1).join(''),
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, expression: string) =>
      findAll(text, expression, -1),
    )
    .registerFunction(
      'string.findAll(string, int): list<string>',
      (text: string, expression: string, limit: bigint) => findAll(text, expression, Number(limit)),
    )
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      replace(text, from, to, -1),
    )
    .registerFunction(
      'string.replace(string, string, int): string',
      (text: string, from: string, to: string, limit: bigint) => replace(text, from, to, Number(limit)),
    )
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => {
      const characters = [...text];
      if (at < 0n || at > BigInt(characters.length)) throw new Error(`index out of range: ${at}`);
      return characters[Number(at)] ?? '';
    })
    .registerFunction('string.format(list<dyn>): string', formatString);
}

type Comparable = bigint | number | string | boolean | Date;

function less(a: Comparable, b: Comparable): boolean {
  return a < b;
}

function best(list: readonly Comparable[], better: (a: Comparable, b: Comparable) => boolean, name: string) {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((so, item) => (better(item, so) ? item : so), first);
}

function indexOf(list: readonly unknown[], item: unknown, last: boolean): bigint {
  return BigInt(last ? list.lastIndexOf(item) : list.indexOf(item));
}

function registerLists(env: Environment): void {
  env
    .registerFunction('list<dyn>.isSorted(): bool', (list: Comparable[]) =>
      list.every((item, i) => i === 0 || !less(item, list[i - 1] ?? item)),
    )
    .registerFunction('list<dyn>.sum(): dyn', (list: (bigint | number)[]) => {
      if (list.some((item) => typeof item === 'number'))
        return list.reduce<number>((sum, item) => sum + Number(item), 0);
      return list.reduce<bigint>((sum, item) => sum + BigInt(item), 0n);
    })
    .registerFunction('list<dyn>.min(): dyn', (list: Comparable[]) => best(list, less, 'min'))
    .registerFunction('list<dyn>.max(): dyn', (list: Comparable[]) => best(list, (a, b) => less(b, a), 'max'))
    .registerFunction('list<dyn>.indexOf(dyn): int', (list: unknown[], item: unknown) =>
      indexOf(list, item, false),
    )
    .registerFunction('list<dyn>.lastIndexOf(dyn): int', (list: unknown[], item: unknown) =>
      indexOf(list, item, true),
    );
}
