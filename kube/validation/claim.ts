import { at, isRecord, strings, text } from '../defaults/json.ts';
import { parseQuantity } from '../defaults/quantity.ts';
import type { Field } from './field.ts';
import { labelSelector } from './labels.ts';
import { accessModes } from './pod/resources.ts';
import { dns1123Subdomain } from './rules.ts';

export const volumeModes = ['Block', 'Filesystem'];

/** The spec of a PersistentVolumeClaim, or of a template for one. */
export function claimSpec(spec: unknown, field: Field): void {
  if (strings(at(spec, 'accessModes')).length === 0) {
    field.child('accessModes').required('at least 1 access mode is required');
  }
  labelSelector(at(spec, 'selector'), field.child('selector'));
  accessModes(at(spec, 'accessModes'), field.child('accessModes'));
  const storage = at(spec, 'resources', 'requests', 'storage');
  const path = field.child('resources').key('storage');
  if (storage === undefined) path.required();
  else if ((parseQuantity(storage)?.value ?? 1n) <= 0n) path.invalid(storage, 'must be greater than zero');
  const className = text(at(spec, 'storageClassName'));
  if (className) dns1123Subdomain(className, field.child('storageClassName'));
  const mode = at(spec, 'volumeMode');
  if (mode !== undefined && !volumeModes.includes(text(mode))) {
    field.child('volumeMode').notSupported(mode, volumeModes);
  }
  for (const name of ['dataSource', 'dataSourceRef']) dataSource(at(spec, name), field.child(name));
  const attributes = text(at(spec, 'volumeAttributesClassName'));
  if (attributes) dns1123Subdomain(attributes, field.child('volumeAttributesClassName'));
}

function dataSource(source: unknown, field: Field): void {
  if (!isRecord(source)) return;
  for (const name of ['name', 'kind']) if (!text(source[name])) field.child(name).required();
  const group = text(source['apiGroup']);
  if (!group && text(source['kind']) !== 'PersistentVolumeClaim') {
    field.invalid(
      text(source['kind']),
      "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    );
  }
  if (group) dns1123Subdomain(group, field.child('apiGroup'));
}
