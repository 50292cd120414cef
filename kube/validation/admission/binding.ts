import { validateDns1123Subdomain, validatePathSegmentName } from '../../names.ts';
import { isRecord, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { KindCheck } from '../kind.ts';
import { labelSelector } from '../labels.ts';
import { oneOf } from '../rules.ts';
import { matchResources } from './match.ts';
import { mutatingOperations } from './rule.ts';

const actions = ['Audit', 'Deny', 'Warn'];

function paramRef(ref: unknown, field: Field): void {
  if (!isRecord(ref)) return;
  const name = text(ref['name']);
  const both = 'name and selector are mutually exclusive';
  if (name) field.child('name').invalidAll(name, validatePathSegmentName(name));
  if (name && isRecord(ref['selector'])) field.child('name').forbidden(both);
  labelSelector(ref['selector'], field.child('selector'));
  if (name && isRecord(ref['selector'])) field.child('selector').forbidden(both);
  if (!name && !isRecord(ref['selector'])) field.required('one of name or selector must be specified');
  oneOf(ref['parameterNotFoundAction'], ['Deny', 'Allow'], field.child('parameterNotFoundAction'));
}

/** Of a policy to what it decides on. */
export function binding(validating: boolean): KindCheck {
  return ({ spec }, root) => {
    const field = root.child('spec');
    const name = text(spec['policyName']);
    if (!name) field.child('policyName').required();
    else field.child('policyName').invalidAll(name, validateDns1123Subdomain(name));
    paramRef(spec['paramRef'], field.child('paramRef'));
    matchResources(spec['matchResources'], field.child('matchResources'));
    if (validating) validationActions(strings(spec['validationActions']), field.child('validationActions'));
    else if (isRecord(spec['matchResources'])) {
      const rules = records(spec['matchResources']['resourceRules']);
      mutatingOperations(rules, field.child('matchResources', 'resourceRules'));
    }
  };
}

function validationActions(given: string[], field: Field): void {
  for (const [index, action] of given.entries()) {
    if (!actions.includes(action)) field.index(index).notSupported(action, actions);
    if (given.indexOf(action) < index) field.index(index).duplicate(action);
  }
  if (given.includes('Deny') && given.includes('Warn')) {
    const purpose =
      'repeating the same validation failure information in the API response and headers serves no purpose';
    field.invalid(given, `must not contain both Deny and Warn (${purpose})`);
  }
  if (given.length === 0) field.required('at least one validation action is required');
}
