import { parseQuantity } from '../defaults/quantity.ts';
import { validateDns1123Subdomain } from '../names.ts';
import { at, isRecord, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { labelSelector } from './labels.ts';
import { accessModes, resourceQuantity } from './pod/resources.ts';
import { dns1123Label, dns1123Subdomain } from './rules.ts';

export const volumeModes = ['Block', 'Filesystem'];

/** The spec of a PersistentVolumeClaim, or of a template for one; groups that `old` has may be none. */
export function claimSpec(spec: unknown, field: Field, old?: unknown): void {
  if (strings(at(spec, 'accessModes')).length === 0) {
    field.child('accessModes').required('at least 1 access mode is required');
  }
  labelSelector(at(spec, 'selector'), field.child('selector'));
  accessModes(at(spec, 'accessModes'), field.child('accessModes'));
  const storage = at(spec, 'resources', 'requests', 'storage');
  const path = field.child('resources').key('storage');
  if (storage === undefined) path.required();
  else if ((parseQuantity(storage)?.value ?? 1n) <= 0n) path.invalid(storage, 'must be greater than zero');
  else resourceQuantity('storage', storage, path);
  const className = text(at(spec, 'storageClassName'));
  if (className) dns1123Subdomain(className, field.child('storageClassName'));
  const mode = at(spec, 'volumeMode');
  if (mode !== undefined && !volumeModes.includes(text(mode))) {
    field.child('volumeMode').notSupported(mode, volumeModes);
  }
  const lenient = ['dataSource', 'dataSourceRef'].some((name) => {
    const group = text(at(old, name, 'apiGroup'));
    return group !== '' && validateDns1123Subdomain(group).length > 0;
  });
  for (const name of ['dataSource', 'dataSourceRef']) dataSource(at(spec, name), lenient, field.child(name));
  sourcesAgree(at(spec, 'dataSource'), at(spec, 'dataSourceRef'), field);
  const attributes = text(at(spec, 'volumeAttributesClassName'));
  if (attributes) dns1123Subdomain(attributes, field.child('volumeAttributesClassName'));
}

/** kube-apiserver shows a path where the value should be, and paths have nothing to show. */
function sourcesAgree(source: unknown, ref: unknown, field: Field): void {
  const namespace = text(at(ref, 'namespace'));
  if (namespace) dns1123Label(namespace, field.child('dataSourceRef', 'namespace'));
  if (!isRecord(source) || !isRecord(ref)) return;
  const same = ['apiGroup', 'kind', 'name'].every((name) => text(source[name]) === text(ref[name]));
  if (namespace) field.invalid({}, 'may not be specified when dataSourceRef.namespace is specified');
  else if (!same) field.invalid({}, 'must match dataSourceRef');
}

function dataSource(source: unknown, lenient: boolean, field: Field): void {
  if (!isRecord(source)) return;
  for (const name of ['name', 'kind']) if (!text(source[name])) field.child(name).required();
  const group = text(source['apiGroup']);
  if (!group && text(source['kind']) !== 'PersistentVolumeClaim') {
    field.invalid(
      text(source['kind']),
      "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    );
  }
  if (group && !lenient) dns1123Subdomain(group, field.child('apiGroup'));
}
