import type { JsonObject } from '../../object.ts';
import { isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { oneOf } from '../rules.ts';

const resizable = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

/** What a change of its resources does to a container of a pod with `podPolicy`. */
export function resizePolicy(container: JsonObject, podPolicy: string, field: Field): void {
  const seen = new Set<string>();
  for (const [index, policy] of records(container['resizePolicy']).entries()) {
    const path = field.index(index);
    const name = text(policy['resourceName']);
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    oneOf(name, resizable, field);
    const restart = text(policy['restartPolicy']);
    oneOf(restart, resizePolicies, field);
    if (podPolicy === 'Never' && restart !== 'NotRequired')
      field.invalid(restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];

const ruleActions = ['Restart', 'RestartAllContainers'];
const ruleOperators = ['In', 'NotIn'];
const mostRules = 20;

/** When a container by itself starts again. Of an init container without a policy nothing else is looked at (`bare`). */
export function restartRules(container: JsonObject, bare: boolean, field: Field): void {
  const policy = container['restartPolicy'];
  const rules = records(container['restartPolicyRules']);
  const path = field.child('restartPolicy');
  if (policy === undefined) {
    if (rules.length === 0) return;
    path.required('must specify restartPolicy when restart rules are used');
    if (bare) return;
  } else if (!restartPolicies.includes(text(policy))) path.notSupported(policy, restartPolicies);
  if (rules.length > mostRules) field.child('restartPolicyRules').tooMany(rules.length, mostRules);
  for (const [index, rule] of rules.entries()) {
    const path = field.child('restartPolicyRules').index(index);
    const action = text(rule['action']);
    if (!ruleActions.includes(action)) path.child('action').notSupported(action, ruleActions);
    const codes = rule['exitCodes'];
    if (!isRecord(codes)) {
      path.child('exitCodes').required('must be specified');
      continue;
    }
    const operator = text(codes['operator']);
    if (!ruleOperators.includes(operator))
      path.child('exitCodes', 'operator').notSupported(operator, ruleOperators);
    const values = Array.isArray(codes['values']) ? codes['values'] : [];
    if (values.length > 255) path.child('exitCodes', 'values').tooMany(values.length, 255);
  }
}
