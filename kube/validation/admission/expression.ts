import type { Declarations } from '../../cel/typed/environment.ts';
import { policyDeclarations, type PolicyScope as Scope } from '../../cel/typed/messages.ts';
import { type CelType, declaredType } from '../../cel/typed/types.ts';
import { records, text } from '../../untyped.ts';
import { judgeOf } from '../expressions.ts';
import type { Field } from '../field.ts';
import { qualifiedName } from '../rules.ts';

/**
 * Tells what is wrong with a CEL expression at `field`; `types` are those that it may evaluate to, any when there are
 * none. `shown` is what the message shows, where that is not the expression. Returns its type where it has one.
 */
export function condition(
  expression: string,
  scope: Scope,
  types: readonly string[],
  field: Field,
  shown = expression,
): CelType | undefined {
  const { problem, checked, unstartable } = judgeOf(field, expression, declarationsOf(scope));
  if (problem !== undefined) field.invalid(shown, `compilation failed: ${problem}`);
  if (!checked) return undefined;
  const type = declaredType(checked.type);
  if (types.length > 0 && !types.includes(type)) {
    const wanted = types.length === 1 ? types[0] : `one of [${types.join(' ')}]`;
    field.invalid(shown, `must evaluate to ${wanted} but got ${type}`);
  } else if (unstartable !== undefined) field.internal(`program instantiation failed: ${unstartable}`);
  return checked.type;
}

const plain = new Map<string, Declarations>();

/** Kept where no variables of a policy make them its own. */
function declarationsOf(scope: Scope): Declarations {
  if (scope.variables) return policyDeclarations(scope);
  const key = [scope.params, scope.authorizer, scope.patches].join();
  const known = plain.get(key) ?? policyDeclarations(scope);
  plain.set(key, known);
  return known;
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
