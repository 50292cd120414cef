import { validateLabelValue, validateQualifiedName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import { Field } from './field.ts';
import { internal } from './internal.ts';
import { metadataFields } from './meta.ts';

/** What is wrong with an access review of a kind of authorization.k8s.io; `namespace` is the URL's. */
export function accessReviewProblems(kind: string, body: JsonObject, namespace: string): StatusCause[] {
  const root = new Field([]);
  const spec = record(body['spec']);
  const field = root.child('spec');
  const [resource, other] = [spec['resourceAttributes'], spec['nonResourceAttributes']];
  if (isRecord(resource) && isRecord(other)) {
    const why = 'cannot be specified in combination with resourceAttributes';
    field.child('nonResourceAttributes').invalid(internal(other, 'authorization.NonResourceAttributes'), why);
  }
  if (!isRecord(resource) && !isRecord(other)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    field.child('resourceAttributes').invalid(null, why);
  }
  if (kind !== 'SelfSubjectAccessReview' && !text(spec['user']) && strings(spec['groups']).length === 0) {
    field.child('user').invalid('', 'at least one of user or group must be specified');
  }
  for (const name of ['fieldSelector', 'labelSelector'] as const)
    selector(at(resource, name), name, field.child('resourceAttributes', name));
  emptyMetadata(record(body['metadata']), kind === 'LocalSubjectAccessReview', root.child('metadata'));
  if (kind !== 'LocalSubjectAccessReview') return root.causes;
  const asked = text(at(resource, 'namespace'));
  if (isRecord(resource) && asked !== namespace) {
    field.child('resourceAttributes', 'namespace').invalid(asked, 'must match metadata.namespace');
  }
  if (isRecord(other)) {
    const why = 'disallowed on this kind of request';
    field.child('nonResourceAttributes').invalid(internal(other, 'authorization.NonResourceAttributes'), why);
  }
  return root.causes;
}

function selector(value: unknown, kind: 'fieldSelector' | 'labelSelector', field: Field): void {
  if (!isRecord(value)) return;
  const raw = text(value['rawSelector']);
  const list = records(value['requirements']);
  if (raw && list.length > 0)
    field.child('rawSelector').invalid(raw, 'may not specified at the same time as requirements');
  if (!raw && list.length === 0)
    field
      .child('requirements')
      .required(`when ${field.path} is specified, requirements or rawSelector is required`);
  for (const [index, one] of list.entries())
    requirement(one, kind === 'labelSelector', field.child('requirements').index(index));
}

/** Operators of later versions are let pass. */
function requirement(one: JsonObject, ofLabels: boolean, field: Field): void {
  const key = text(one['key']);
  const values = strings(one['values']);
  const operator = text(one['operator']);
  if (!ofLabels && !key) field.child('key').required('must be specified');
  if (['In', 'NotIn'].includes(operator) && values.length === 0)
    field.child('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  if (['Exists', 'DoesNotExist'].includes(operator) && values.length > 0)
    field.child('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  if (!ofLabels) return;
  field.child('key').invalidAll(key, validateQualifiedName(key));
  for (const [index, value] of values.entries())
    field.child('values').index(index).invalidAll(value, validateLabelValue(value));
}

function emptyMetadata(meta: JsonObject, inNamespace: boolean, field: Field): void {
  const given = metadataFields.filter((name) => isGiven(meta[name]));
  const allowed = inNamespace ? ['managedFields', 'namespace'] : ['managedFields'];
  if (given.every((name) => allowed.includes(name))) return;
  const shown = Object.fromEntries(given.map((name) => [name, meta[name]]));
  field.invalid(shown, inNamespace ? 'must be empty except for namespace' : 'must be empty');
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
