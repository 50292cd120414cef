import { at, isRecord, record, strings, text } from '../defaults/json.ts';
import type { JsonObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import { Field } from './field.ts';

/** What is wrong with an access review of a kind of authorization.k8s.io; `namespace` is the URL's. */
export function accessReviewProblems(kind: string, body: JsonObject, namespace: string): StatusCause[] {
  const root = new Field([]);
  const spec = record(body['spec']);
  const field = root.child('spec');
  const [resource, other] = [spec['resourceAttributes'], spec['nonResourceAttributes']];
  if (isRecord(resource) && isRecord(other)) {
    const why = 'cannot be specified in combination with resourceAttributes';
    field.child('nonResourceAttributes').invalid(goNames(other), why);
  }
  if (!isRecord(resource) && !isRecord(other)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    field.child('resourceAttributes').invalid(null, why);
  }
  if (kind === 'SelfSubjectAccessReview') return root.causes;
  if (!text(spec['user']) && strings(spec['groups']).length === 0) {
    field.child('user').invalid('', 'at least one of user or group must be specified');
  }
  if (kind !== 'LocalSubjectAccessReview') return root.causes;
  const asked = text(at(resource, 'namespace'));
  if (isRecord(resource) && asked !== namespace) {
    field.child('resourceAttributes', 'namespace').invalid(asked, 'must match metadata.namespace');
  }
  if (isRecord(other)) {
    field.child('nonResourceAttributes').invalid(goNames(other), 'disallowed on this kind of request');
  }
  return root.causes;
}

/** kube-apiserver shows its own structure, not the client's. */
function goNames({ path, verb }: JsonObject): JsonObject {
  return { Path: text(path), Verb: text(verb) };
}
