import type { JsonObject } from '../object.ts';
import { records, text } from '../untyped.ts';
import { normaliseSchema } from './custom-schema.ts';
import type { Defaulter, Defaulters } from './defaulter.ts';
import { child, fill, fillZero } from './fill.ts';

const port: Defaulter = (reference) => fill(reference, 'port', 443);
const failurePolicy: Defaulter = (spec) => fill(spec, 'failurePolicy', 'Fail');

const matching: Defaulter = (value) => {
  fill(value, 'matchPolicy', 'Equivalent');
  fill(value, 'namespaceSelector', {});
  fill(value, 'objectSelector', {});
};

const webhook: Defaulter = (value) => {
  failurePolicy(value);
  matching(value);
  fill(value, 'timeoutSeconds', 10);
};

function customResourceDefinition(object: JsonObject): void {
  const spec = child(object, 'spec');
  const names = child(spec, 'names');
  const kind = text(names['kind']);
  fillZero(names, 'singular', kind.toLowerCase());
  if (kind !== '') fillZero(names, 'listKind', `${kind}List`);
  fill(spec, 'conversion', { strategy: 'None' });
  const stored = records(spec['versions']).find((version) => version['storage'] === true);
  const status = child(object, 'status');
  if (stored && records(status['storedVersions']).length === 0)
    status['storedVersions'] = [text(stored['name'])];
}

export const admissionDefaults: Defaulters = {
  'admissionregistration.v1.ValidatingWebhook': webhook,
  'admissionregistration.v1.MutatingWebhook': (value) => {
    webhook(value);
    fill(value, 'reinvocationPolicy', 'Never');
  },
  'admissionregistration.v1.Rule': (rule) => fill(rule, 'scope', '*'),
  'admissionregistration.v1.RuleWithOperations': (rule) => fill(rule, 'scope', '*'),
  'admissionregistration.v1.NamedRuleWithOperations': (rule) => fill(rule, 'scope', '*'),
  'admissionregistration.v1.ServiceReference': port,
  'admissionregistration.v1.ValidatingAdmissionPolicySpec': failurePolicy,
  'admissionregistration.v1.MutatingAdmissionPolicySpec': failurePolicy,
  'admissionregistration.v1.MatchResources': matching,
  'apiextensions.v1.CustomResourceValidation': (value) => {
    const schema = normaliseSchema(value['openAPIV3Schema']);
    if (schema !== undefined) value['openAPIV3Schema'] = schema;
  },
  'apiextensions.v1.ServiceReference': port,
  'apiextensions.v1.CustomResourceDefinition': customResourceDefinition,
  'apiregistration.v1.ServiceReference': port,
};
