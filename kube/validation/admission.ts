import { at, isRecord, records, strings, text } from '../defaults/json.ts';
import {
  validateDns1035Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
  validateQualifiedName,
} from '../names.ts';
import type { JsonObject } from '../object.ts';
import { webhookRule } from './extension.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { oneOf } from './rules.ts';

/** The policies' expressions are compiled elsewhere; here is what can be said without that. */
const failurePolicies = ['Fail', 'Ignore'];
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const actions = ['Audit', 'Deny', 'Warn'];

function paramKind(kind: JsonObject, field: Field): void {
  const apiVersion = text(kind['apiVersion']);
  const [first = '', second] = apiVersion.split('/');
  const [group, version] = second === undefined ? ['', first] : [first, second];
  const path = field.child('apiVersion');
  const groupErrors = group ? validateDns1123Subdomain(group) : [];
  const versionErrors = validateDns1035Label(version);
  if (!apiVersion) path.required();
  else {
    if (groupErrors.length > 0) path.invalid(group, groupErrors.join(','));
    if (!version) path.invalid(apiVersion, 'version must be specified');
    else if (versionErrors.length > 0) path.invalid(version, versionErrors.join(','));
  }
  const name = text(kind['kind']);
  const nameErrors = validateDns1035Label(name.toLowerCase());
  if (!name) field.child('kind').required();
  else if (nameErrors.length > 0) {
    field
      .child('kind')
      .invalid(name, `may have mixed case, but should otherwise match: ${nameErrors.join(',')}`);
  }
}

function matchResources(match: unknown, field: Field): void {
  if (!isRecord(match)) return;
  oneOf(match['matchPolicy'], ['Equivalent', 'Exact'], field.child('matchPolicy'));
  labelSelector(match['namespaceSelector'], field.child('namespaceSelector'));
  labelSelector(match['objectSelector'], field.child('objectSelector'));
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [index, rule] of records(match[list]).entries()) {
      const path = field.child(list).index(index);
      for (const [i, name] of strings(rule['resourceNames']).entries()) {
        path.child('resourceNames').index(i).invalidAll(name, validatePathSegmentName(name));
      }
      webhookRule(rule, path);
    }
  }
}

/** Failure policy, parameters and what is matched: common to validating and mutating policies. */
function common(spec: JsonObject, field: Field): void {
  oneOf(spec['failurePolicy'], failurePolicies, field.child('failurePolicy'));
  if (isRecord(spec['paramKind'])) paramKind(spec['paramKind'], field.child('paramKind'));
  const path = field.child('matchConstraints');
  if (!isRecord(spec['matchConstraints'])) {
    path.required();
    return;
  }
  matchResources(spec['matchConstraints'], path);
  if (records(at(spec, 'matchConstraints', 'resourceRules')).length === 0)
    path.child('resourceRules').required();
}

const policy: KindCheck = ({ object, spec }, root) => {
  const field = root.child('spec');
  common(spec, field);
  for (const [index, variable] of records(spec['variables']).entries()) {
    const path = field.child('variables').index(index);
    const name = text(variable['name']);
    if (!name) path.child('name').required('name is not specified');
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name))
      path.child('name').invalid(name, 'name is not a valid CEL identifier');
    if (!text(variable['expression']).trim())
      path.child('expression').required('expression is not specified');
  }
  const validations = records(spec['validations']);
  const annotations = records(spec['auditAnnotations']);
  if (validations.length + annotations.length === 0) {
    const rule = 'validations or auditAnnotations must contain at least one item';
    field.child('validations').required(rule);
    field.child('auditAnnotations').required(rule);
  }
  for (const [index, validation] of validations.entries()) {
    const path = field.child('validations').index(index);
    if (!text(validation['expression']).trim())
      path.child('expression').required('expression is not specified');
    const message = text(validation['message']);
    if (message && !message.trim()) path.child('message').invalid(message, 'must be non-empty if specified');
    else if (message.trim().includes('\n'))
      path.child('message').invalid(message, 'must not contain line breaks');
    const reason = validation['reason'];
    if (reason !== undefined && !reasons.includes(text(reason)))
      path.child('reason').notSupported(reason, reasons);
  }
  const name = text(at(object, 'metadata', 'name'));
  for (const [index, annotation] of annotations.entries()) {
    const path = field.child('auditAnnotations').index(index);
    const key = `${name}/${text(annotation['key'])}`;
    path.child('key').invalidAll(key, validateQualifiedName(key));
    if (!text(annotation['valueExpression']).trim()) {
      path.child('valueExpression').required('valueExpression is not specified');
    }
  }
};

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

function binding(validating: boolean): KindCheck {
  return ({ spec }, root) => {
    const field = root.child('spec');
    const name = text(spec['policyName']);
    if (!name) field.child('policyName').required();
    else field.child('policyName').invalidAll(name, validateDns1123Subdomain(name));
    paramRef(spec['paramRef'], field.child('paramRef'));
    matchResources(spec['matchResources'], field.child('matchResources'));
    if (validating) validationActions(strings(spec['validationActions']), field.child('validationActions'));
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

const group = 'admissionregistration.k8s.io';

export const admissionChecks: KindChecks = {
  [`${group}/ValidatingAdmissionPolicy`]: policy,
  [`${group}/ValidatingAdmissionPolicyBinding`]: binding(true),
  [`${group}/MutatingAdmissionPolicy`]: ({ spec }, root) => common(spec, root.child('spec')),
  [`${group}/MutatingAdmissionPolicyBinding`]: binding(false),
};
