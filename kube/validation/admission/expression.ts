import { judge } from '../../cel/compile.ts';
import { records, text } from '../../defaults/json.ts';
import type { Field } from '../field.ts';
import { qualifiedName } from '../rules.ts';

/** What else expressions can name beside the objects and the request. */
export interface Scope {
  params?: boolean;
  authorizer?: boolean;
  /** Names of a policy's own variables that are declared by then; absent where there can be none. */
  variables?: readonly string[];
}

const base = ['object', 'oldObject', 'namespaceObject', 'request'];

/**
 * Tells what is wrong with a CEL expression at `field`; `types` are those that it may evaluate to, any when there are
 * none. `shown` is what the message shows, where that is not the expression.
 */
export function condition(
  expression: string,
  scope: Scope,
  types: readonly string[],
  field: Field,
  shown = expression,
): void {
  const names = [
    ...base,
    ...(scope.params ? ['params'] : []),
    ...(scope.authorizer ? ['authorizer'] : []),
    ...(scope.variables ? ['variables'] : []),
  ];
  const { problem, type } = judge(expression, names, scope.variables);
  if (problem !== undefined) field.invalid(shown, `compilation failed: ${problem}`);
  else if (type !== undefined && type !== 'dyn' && types.length > 0 && !types.includes(type)) {
    const wanted = types.length === 1 ? types[0] : `one of [${types.join(' ')}]`;
    field.invalid(shown, `must evaluate to ${wanted} but got ${type}`);
  }
}

const mostConditions = 64;

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions */
export function matchConditions(value: unknown, params: boolean, field: Field): void {
  const list = records(value);
  if (list.length > mostConditions) field.tooMany(list.length, mostConditions);
  const names = new Set<string>();
  for (const [index, one] of list.entries()) {
    const path = field.index(index);
    const expression = text(one['expression']).trim();
    if (!expression) path.child('expression').required();
    else condition(expression, { params, authorizer: true }, ['bool'], path.child('expression'));
    const name = text(one['name']);
    if (!name) path.child('name').required();
    else qualifiedName(name, path.child('name'));
    if (name && names.has(name)) path.child('name').duplicate(name);
    names.add(name);
  }
}
