import { sameJson } from '../../deep.ts';
import { validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { quoteGo } from '../../quote.ts';
import { at, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { KindCheck, KindChecks, Subject } from '../kind.ts';
import { immutable } from '../rules.ts';
import { conversion } from './conversion.ts';
import { resourceNames } from './names.ts';
import { versions } from './versions.ts';

/** The first two once it is established. */
const frozen: readonly (readonly [string, ...string[]])[] = [
  ['scope'],
  ['names', 'kind'],
  ['group'],
  ['names', 'plural'],
];

const scopes = ['Cluster', 'Namespaced'];

function placed(spec: JsonObject, field: Field): void {
  const group = text(spec['group']);
  const messages = validateDns1123Subdomain(group);
  if (!group) field.child('group').required();
  else if (messages.length > 0) field.child('group').invalid(group, messages.join(','));
  else if (!group.includes('.'))
    field.child('group').invalid(group, 'should be a domain with at least one dot');
  const scope = text(spec['scope']);
  if (!scope) field.child('scope').required();
  else if (!scopes.includes(scope)) field.child('scope').notSupported(scope, scopes);
}

function storedVersions({ object, spec }: Subject, field: Field): void {
  const stored = strings(at(object, 'status', 'storedVersions'));
  if (stored.length === 0) {
    field.invalid(null, 'must have at least one stored version');
    return;
  }
  // One that is named twice is met once.
  const left = new Set(stored);
  for (const version of records(spec['versions'])) {
    const name = text(version['name']);
    if (version['storage'] === true && !left.has(name))
      field.invalid(stored, `must have the storage version ${name}`);
    left.delete(name);
  }
  for (const name of left) {
    const rule = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    field.index(stored.lastIndexOf(name)).invalid(name, rule);
  }
}

const approval = 'api-approved.kubernetes.io';
const see = 'see https://github.com/kubernetes/enhancements/pull/1111';

type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing';
  if (annotation.startsWith('unapproved')) return 'bypassed';
  return /^[a-z][-+.a-z0-9]*:\/\/[^/?#\s]+/i.test(annotation) ? 'approved' : 'invalid';
}

/** Groups of the community need its word. */
function communityApproval({ object, spec, old }: Subject, root: Field): void {
  const group = text(spec['group']);
  if (group !== 'k8s.io' && group !== 'kubernetes.io' && !/\.(k8s|kubernetes)\.io$/.test(group)) return;
  const annotation = text(at(object, 'metadata', 'annotations', approval));
  const state = approvalOf(annotation);
  if (old && approvalOf(text(at(old, 'metadata', 'annotations', approval))) === state) return;
  const path = root.child('metadata', 'annotations').key(approval);
  const rule = `protected groups must have approval annotation ${quoteGo(approval)}`;
  if (state === 'missing') path.required(`${rule}, ${see}`);
  if (state === 'invalid')
    path.invalid(annotation, `${rule} with either a URL or a reason starting with "unapproved", ${see}`);
}

function isEstablished(definition: JsonObject): boolean {
  const conditions = records(at(definition, 'status', 'conditions'));
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

function named(metadata: JsonObject, wanted: string, root: Field): void {
  for (const what of ['generateName', 'name']) {
    const given = text(metadata[what]);
    if (given === '' || given === wanted) continue;
    root.child('metadata', what).invalid(given, 'must be spec.names.plural+"."+spec.group');
  }
}

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/ */
const customResourceDefinition: KindCheck = (subject, root) => {
  const { object, spec, old, oldSpec } = subject;
  const field = root.child('spec');
  if (!old)
    named(record(object['metadata']), `${text(at(spec, 'names', 'plural'))}.${text(spec['group'])}`, root);
  placed(spec, field);
  // What an update leaves as it was has been taken, by an earlier release perhaps: nobody could let go of it.
  if (!oldSpec || !sameJson(spec['versions'], oldSpec['versions'])) versions(spec, field);
  resourceNames(record(spec['names']), field.child('names'));
  conversion(spec['conversion'], field.child('conversion'));
  storedVersions(subject, root.child('status', 'storedVersions'));
  communityApproval(subject, root);
  if (spec['preserveUnknownFields'] === true && oldSpec?.['preserveUnknownFields'] !== true) {
    const instead = 'set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    field.child('preserveUnknownFields').invalid(true, `cannot set to true, ${instead}`);
  }
  if (!old || !oldSpec) return;
  for (const path of isEstablished(old) ? frozen : frozen.slice(2)) {
    if (!sameJson(at(spec, ...path), at(oldSpec, ...path)))
      field.child(...path).invalid(at(spec, ...path), immutable);
  }
};

export const definitionChecks: KindChecks = {
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinition,
};
