import { Budget, compileCondition, perConditions } from '../cel/rule.ts';
import type { Declarations, Fields } from '../cel/typed/environment.ts';
import { type CelType, listOf, mapOf, string, struct } from '../cel/typed/types.ts';
import type { AccessSpec } from './review.ts';

const strings = listOf(string);
const all = (names: string): [string, CelType][] => names.split(' ').map((name) => [name, string]);
const selector: [string, CelType][] = [
  ['rawSelector', string],
  ['requirements', listOf(struct('kubernetes.SelectorRequirement'))],
];

const messages: Readonly<Record<string, ReadonlyMap<string, CelType>>> = {
  'kubernetes.SubjectAccessReviewSpec': new Map([
    ...all('user uid'),
    ['resourceAttributes', struct('kubernetes.ResourceAttributes')],
    ['nonResourceAttributes', struct('kubernetes.NonResourceAttributes')],
    ['groups', strings],
    ['extra', mapOf(string, strings)],
  ]),
  'kubernetes.ResourceAttributes': new Map([
    ...all('namespace verb group version resource subresource name'),
    ['fieldSelector', struct('kubernetes.FieldSelectorAttributes')],
    ['labelSelector', struct('kubernetes.LabelSelectorAttributes')],
  ]),
  'kubernetes.NonResourceAttributes': new Map(all('path verb')),
  'kubernetes.FieldSelectorAttributes': new Map(selector),
  'kubernetes.LabelSelectorAttributes': new Map(selector),
  'kubernetes.SelectorRequirement': new Map([...all('key operator'), ['values', strings]]),
};

function fieldsOf(message: string): Fields | undefined {
  const fields = Object.hasOwn(messages, message) ? messages[message] : undefined;
  return fields && ((name) => fields.get(name));
}

/** What a match condition can name. */
export const requestDeclarations: Declarations = {
  variables: new Map([['request', struct('kubernetes.SubjectAccessReviewSpec')]]),
  fields: fieldsOf,
};

/**
 * Whether all conditions hold. One that is false settles it; otherwise one that fails is thrown as an Error, in
 * kube-apiserver's words.
 */
export function meetsConditions(conditions: readonly string[], spec: AccessSpec): boolean {
  if (conditions.length === 0) return true;
  const variables = { object: null, oldObject: null, request: asSeen(spec) };
  const budget = new Budget(perConditions);
  const failures: string[] = [];
  for (const expression of conditions) {
    const condition = compileCondition(expression);
    try {
      if (condition instanceof Error) throw condition;
      const holds = budget.within((share) => condition(variables, share));
      if (holds === false) return false;
      if (holds !== true) throw new Error('must evaluate to bool');
    } catch (error) {
      const why = (error as Error).message;
      failures.push(`cel evaluation error: expression '${expression}' resulted in error: ${why}`);
    }
  }
  if (failures.length === 0) return true;
  throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
}

/** What is empty is there, but for selectors. */
function asSeen({ user, uid = '', groups = [], extra = {}, ...asked }: AccessSpec): object {
  const { resourceAttributes: resource, nonResourceAttributes: path } = asked;
  const empty = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' };
  return {
    user,
    uid,
    groups,
    extra,
    ...(resource && { resourceAttributes: { ...empty, ...resource } }),
    ...(path && { nonResourceAttributes: { path: '', verb: '', ...path } }),
  };
}
