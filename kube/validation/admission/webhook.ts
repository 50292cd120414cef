import { sameJson } from '../../deep.ts';
import { validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { KindCheck } from '../kind.ts';
import { labelSelector } from '../labels.ts';
import { reviewVersions, webhookClient } from '../webhook-client.ts';
import { matchConditions } from './expression.ts';
import { admissionRule } from './rule.ts';

function qualified(name: string, field: Field): void {
  if (!name) {
    field.required();
    return;
  }
  const messages = validateDns1123Subdomain(name);
  if (messages.length > 0) field.invalid(name, messages.join(','));
  else if (name.split('.').length < 3) {
    field.invalid(name, 'should be a domain with at least three segments separated by dots');
  }
}

const enums: [string, string[]][] = [
  ['failurePolicy', ['Fail', 'Ignore']],
  ['matchPolicy', ['Equivalent', 'Exact']],
];

function webhook(hook: JsonObject, before: JsonObject | undefined, mutating: boolean, field: Field): void {
  qualified(text(hook['name']), field.child('name'));
  for (const [index, rule] of records(hook['rules']).entries())
    admissionRule(rule, field.child('rules').index(index));
  for (const [name, supported] of enums) {
    const value = hook[name];
    if (value !== undefined && !supported.includes(text(value)))
      field.child(name).notSupported(value, supported);
  }
  const effects = hook['sideEffects'];
  if (effects === undefined || effects === null)
    field.child('sideEffects').required('must specify one of None, NoneOnDryRun');
  else if (effects !== 'None' && effects !== 'NoneOnDryRun') {
    field.child('sideEffects').notSupported(effects, ['None', 'NoneOnDryRun']);
  }
  const seconds = hook['timeoutSeconds'];
  if (typeof seconds === 'number' && (seconds < 1 || seconds > 30)) {
    field.child('timeoutSeconds').invalid(seconds, 'the timeout value must be between 1 and 30 seconds');
  }
  labelSelector(hook['namespaceSelector'], field.child('namespaceSelector'));
  labelSelector(hook['objectSelector'], field.child('objectSelector'));
  const reinvocation = hook['reinvocationPolicy'];
  const reinvocations = ['IfNeeded', 'Never'];
  if (mutating && reinvocation !== undefined && !reinvocations.includes(text(reinvocation))) {
    field.child('reinvocationPolicy').notSupported(reinvocation, reinvocations);
  }
  webhookClient(record(hook['clientConfig']), field.child('clientConfig'));
  if (!before || !sameJson(before['matchConditions'], hook['matchConditions']))
    matchConditions(hook['matchConditions'], false, field.child('matchConditions'));
}

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
export function webhooks(mutating: boolean): KindCheck {
  return ({ object, old }, root) => {
    const names = new Set<string>();
    const hooks = records(object['webhooks']);
    const before = old ? records(old['webhooks']) : [];
    // Conditions that were let in once stay, as long as none of them changes.
    const same = hooks.length === before.length;
    for (const [index, hook] of hooks.entries()) {
      const path = root.child('webhooks').index(index);
      const name = text(hook['name']);
      webhook(hook, same ? before[index] : undefined, mutating, path);
      const versions = strings(hook['admissionReviewVersions']);
      const which = 'must specify one of v1, v1beta1';
      reviewVersions(versions, ['v1', 'v1beta1'], which, path.child('admissionReviewVersions'));
      if (name && names.has(name)) path.child('name').duplicate(name);
      names.add(name);
    }
  };
}
