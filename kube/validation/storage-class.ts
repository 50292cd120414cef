import { sameJson } from '../deep.ts';
import { given } from '../defaults/empty.ts';
import { record, records, strings, text } from '../untyped.ts';
import { type Field, sortedMap } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { immutable, qualifiedName } from './rules.ts';

const mostParameters = 512;
const mostParameterBytes = 256 * 1024;

function provisioner(value: string, field: Field): void {
  if (!value) field.required();
  else qualifiedName(value.toLowerCase(), field);
}

function parameters(value: unknown, field: Field): void {
  const entries = Object.entries(record(value));
  if (entries.length > mostParameters) {
    field.tooLong(mostParameters);
    return;
  }
  let bytes = 0;
  for (const [key, one] of entries) {
    if (!key) field.invalid(key, 'field can not be empty.');
    bytes += Buffer.byteLength(key) + Buffer.byteLength(text(one));
  }
  if (bytes > mostParameterBytes) field.tooLong(mostParameterBytes);
}

/** A term without expressions counts as a repetition of each of the terms, itself included. */
function allowedTopologies(value: unknown, field: Field): void {
  const terms = records(value);
  const seen = new Map([['{}', terms.length]]);
  for (const [index, term] of terms.entries()) {
    const path = field.index(index).child('matchLabelExpressions');
    const byKey = new Map<string, string[]>();
    for (const [i, expression] of records(term['matchLabelExpressions']).entries()) {
      const values = strings(expression['values']);
      if (values.length === 0) path.index(i).child('values').required();
      const different = new Set<string>();
      for (const [v, one] of values.entries()) {
        if (different.has(one)) path.index(i).child('values').index(v).duplicate(one);
        different.add(one);
      }
      const key = text(expression['key']);
      qualifiedName(key, path.index(i).child('key'));
      if (byKey.has(key)) path.index(i).child('key').duplicate(key);
      byKey.set(key, [...different].sort());
    }
    const identity = JSON.stringify(Object.fromEntries([...byKey].sort(([a], [b]) => (a < b ? -1 : 1))));
    const before = seen.get(identity) ?? 0;
    for (let told = 0; told < before && path.hasRoom; told++) path.duplicate('');
    seen.set(identity, before + 1);
  }
}

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const frozen = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

/** https://kubernetes.io/docs/concepts/storage/storage-classes/ */
const storageClass: KindCheck = ({ object, old }, root) => {
  if (old) {
    for (const name of frozen) {
      if (!sameJson(object[name], old[name]))
        root.child(name).invalid(sortedMap(given(object, name)), immutable);
    }
  }
  provisioner(text(object['provisioner']), root.child('provisioner'));
  parameters(object['parameters'], root.child('parameters'));
  const policy = object['reclaimPolicy'];
  if (policy && !reclaimPolicies.includes(text(policy)))
    root.child('reclaimPolicy').notSupported(policy, reclaimPolicies);
  const mode = object['volumeBindingMode'];
  if (!bindingModes.includes(text(mode))) root.child('volumeBindingMode').notSupported(mode, bindingModes);
  allowedTopologies(object['allowedTopologies'], root.child('allowedTopologies'));
};

/** https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/ */
const attributesClass: KindCheck = ({ object, old }, root) => {
  for (const name of old ? ['driverName', 'parameters'] : []) {
    if (!sameJson(object[name], old?.[name])) root.child(name).forbidden(`updates to ${name} are forbidden.`);
  }
  provisioner(text(object['driverName']), root.child('driverName'));
  parameters(object['parameters'], root.child('parameters'));
  if (Object.keys(record(object['parameters'])).length === 0) {
    root.child('parameters').required('must contain at least one key/value pair');
  }
};

export const storageClassChecks: KindChecks = {
  'storage.k8s.io/StorageClass': storageClass,
  'storage.k8s.io/VolumeAttributesClass': attributesClass,
};
