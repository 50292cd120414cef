import { at, int, isRecord, record, records, strings, text } from '../defaults/json.ts';
import { validateDns1035Label, validateDns1123Subdomain, validatePathSegmentName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { inclusiveRange } from './rules.ts';

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

function wildcardAlone(rule: JsonObject, name: string, what: string, field: Field): void {
  const list = strings(rule[name]);
  if (list.length === 0) field.child(name).required();
  if (list.length > 1 && list.includes('*')) {
    field.child(name).invalid(list, `if '*' is present, must not specify other ${what}`);
  }
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const ruleScopes = ['*', 'Cluster', 'Namespaced'];

export function webhookRule(rule: JsonObject, field: Field): void {
  wildcardAlone(rule, 'operations', 'operations', field);
  for (const [index, operation] of strings(rule['operations']).entries()) {
    if (!operations.includes(operation))
      field.child('operations').index(index).notSupported(operation, operations);
  }
  wildcardAlone(rule, 'apiGroups', 'API groups', field);
  wildcardAlone(rule, 'apiVersions', 'API versions', field);
  const resources = strings(rule['resources']);
  if (resources.length === 0) field.child('resources').required();
  if (resources.length > 1 && resources.includes('*/*')) {
    field.child('resources').invalid(resources, "if '*/*' is present, must not specify other resources");
  }
  const scope = rule['scope'];
  if (scope !== undefined && !ruleScopes.includes(text(scope)))
    field.child('scope').notSupported(scope, ruleScopes);
}

function service(value: JsonObject, field: Field): void {
  // kube-apiserver hands these two over in the wrong order, and so tells of the other.
  if (!text(value['namespace'])) field.child('name').required();
  if (!text(value['name'])) field.child('namespace').required();
  const port = int(value['port']);
  if (port < 1 || port > 65_535)
    field.child('port').invalid(port, `port is not valid: ${inclusiveRange(1, 65_535)}`);
  const path = text(value['path']);
  if (path && !path.startsWith('/')) field.child('path').invalid(path, "must start with a '/'");
}

const enums: [string, string[]][] = [
  ['failurePolicy', ['Fail', 'Ignore']],
  ['matchPolicy', ['Equivalent', 'Exact']],
];

function webhook(hook: JsonObject, field: Field): void {
  qualified(text(hook['name']), field.child('name'));
  for (const [index, rule] of records(hook['rules']).entries())
    webhookRule(rule, field.child('rules').index(index));
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
  if (reinvocation !== undefined && !reinvocations.includes(text(reinvocation))) {
    field.child('reinvocationPolicy').notSupported(reinvocation, reinvocations);
  }
  const client = record(hook['clientConfig']);
  const target = client['service'];
  if ((client['url'] === undefined) === !isRecord(target)) {
    field.child('clientConfig').required('exactly one of url or service is required');
  } else if (isRecord(target)) service(target, field.child('clientConfig', 'service'));
}

function reviewVersions(versions: string[], field: Field): void {
  if (versions.length === 0) {
    field.required('must specify one of v1, v1beta1');
    return;
  }
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) field.index(index).invalid(version, 'duplicate version');
    else field.index(index).invalidAll(version, validateDns1035Label(version));
    seen.add(version);
  }
  if (!seen.has('v1') && !seen.has('v1beta1'))
    field.invalid(versions, 'must include at least one of v1, v1beta1');
}

const webhooks: KindCheck = ({ object }, root) => {
  const names = new Set<string>();
  for (const [index, hook] of records(object['webhooks']).entries()) {
    const path = root.child('webhooks').index(index);
    const name = text(hook['name']);
    webhook(hook, path);
    reviewVersions(strings(hook['admissionReviewVersions']), path.child('admissionReviewVersions'));
    if (name && names.has(name)) path.child('name').duplicate(name);
    names.add(name);
  }
};

const apiService: KindCheck = ({ object, spec }, root) => {
  const field = root.child('spec');
  const group = text(spec['group']);
  const version = text(spec['version']);
  const name = text(at(object, 'metadata', 'name'));
  const expected = `${version}.${group}`;
  if (name !== '' && name !== expected && validatePathSegmentName(name).length === 0) {
    root
      .child('metadata', 'name')
      .invalid(name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`);
  }
  if (!group && version !== 'v1') {
    field.child('group').required('only v1 may have an empty group and it better be legacy kube');
  }
  if (group) field.child('group').invalidAll(group, validateDns1123Subdomain(group));
  field.child('version').invalidAll(version, validateDns1035Label(version));
  const priority = (field_: string, most: number) => {
    const value = int(spec[field_]);
    if (value <= 0 || value > most)
      field.child(field_).invalid(value, `must be positive and less than ${most}`);
  };
  priority('groupPriorityMinimum', 20_000);
  priority('versionPriority', 1000);
  const target = spec['service'];
  const insecure = spec['insecureSkipTLSVerify'] === true;
  if (!isRecord(target)) {
    const rule = 'local APIServices may not have insecureSkipTLSVerify';
    if (insecure) field.child('insecureSkipTLSVerify').invalid(true, rule);
    return;
  }
  for (const part of ['namespace', 'name']) if (!text(target[part])) field.child('service', part).required();
  const port = int(target['port']);
  if (port < 1 || port > 65_535) {
    field.child('service', 'port').invalid(port, `port is not valid: ${inclusiveRange(1, 65_535)}`);
  }
  if (insecure && text(spec['caBundle'])) {
    field.child('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
  }
};

export const extensionChecks: KindChecks = {
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'apiregistration.k8s.io/APIService': apiService,
};
