import { at, isRecord, record, strings, text } from '../defaults/json.ts';
import { compareQuantities, parseQuantity } from '../defaults/quantity.ts';
import type { JsonObject } from '../object.ts';
import { sameJson } from '../strategy/equal.ts';
import { claimSpec, volumeModes } from './claim.ts';
import { type Field, sortedMap } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { nodeSelector } from './pod/affinity.ts';
import { accessModes } from './pod/resources.ts';
import { driverName, isVolumeSource, volumeSource } from './pod/volume.ts';
import { dns1123Subdomain, immutable, isSet, noBacksteps } from './rules.ts';

/** Claims keep their spec; a bound one may grow, and change its attributes class. */
const claim: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  claimSpec(spec, field);
  if (!old || !oldSpec) return;
  const bound = at(object, 'status', 'phase') === 'Bound';
  const comparable = (of: JsonObject) => {
    const { volumeName, storageClassName, resources, volumeAttributesClassName, ...rest } = of;
    const { storage: _storage, ...requests } = record(at(resources, 'requests'));
    return {
      ...rest,
      volumeName: oldSpec['volumeName'] === undefined ? null : (volumeName ?? null),
      storageClassName: oldSpec['storageClassName'] === undefined ? null : (storageClassName ?? null),
      resources: bound ? { ...record(resources), requests } : (resources ?? null),
      volumeAttributesClassName: bound ? null : (volumeAttributesClassName ?? null),
    };
  };
  if (!sameJson(comparable(spec), comparable(oldSpec))) {
    const except = 'except resources.requests and volumeAttributesClassName for bound claims';
    field.forbidden(`spec is immutable after creation ${except}`);
  }
  const now = at(spec, 'resources', 'requests', 'storage') ?? '0';
  const before = at(oldSpec, 'resources', 'requests', 'storage') ?? '0';
  const shrunk = (compareQuantities(now, before) ?? 0) < 0;
  const capacity = at(old, 'status', 'capacity', 'storage') ?? '0';
  if (shrunk && (compareQuantities(now, capacity) ?? 1) <= 0) {
    field.child('resources', 'requests', 'storage').forbidden('field can not be less than status.capacity');
  }
  if (!sameJson(spec['volumeMode'], oldSpec['volumeMode']))
    root.child('volumeMode').invalid(spec['volumeMode'], immutable);
};

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
const sharedSources = ['local', 'csi'];
const inPersistentVolume = { isPod: false, name: '' };

function source(spec: JsonObject, field: Field): void {
  const local = spec['local'];
  const csi = spec['csi'];
  if (!isRecord(local) && !isRecord(csi)) {
    volumeSource(spec, field, inPersistentVolume);
    return;
  }
  const others = Object.keys(spec).some((name) => isVolumeSource(name) && name !== 'csi');
  if (others) {
    const { csi: _csi, ...rest } = spec;
    volumeSource(rest, field, inPersistentVolume);
    for (const name of sharedSources)
      if (isSet(spec, name)) field.child(name).forbidden('may not specify more than 1 volume type');
    return;
  }
  if (sharedSources.every((name) => isSet(spec, name))) {
    field.child('csi').forbidden('may not specify more than 1 volume type');
  }
  if (isRecord(local)) {
    const path = text(local['path']);
    if (!path) field.child('local', 'path').required();
    else noBacksteps(path, field.child('local', 'path'));
    if (!isRecord(spec['nodeAffinity']))
      field.child('nodeAffinity').required('Local volume requires node affinity');
  } else if (isRecord(csi)) {
    driverName(text(csi['driver']), field.child('csi', 'driver'));
    if (!text(csi['volumeHandle'])) field.child('csi', 'volumeHandle').required();
  }
}

function capacity(spec: JsonObject, field: Field): void {
  const list = record(spec['capacity']);
  const names = Object.keys(list);
  if (names.length === 0) field.required();
  if (!names.includes('storage') || names.length > 1)
    field.notSupported(sortedMap(spec['capacity']), ['storage']);
  for (const [name, value] of Object.entries(list)) {
    const quantity = parseQuantity(value);
    if (quantity && quantity.value <= 0n) field.key(name).invalid(value, 'must be greater than zero');
  }
}

const volume: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  if (strings(spec['accessModes']).length === 0) field.child('accessModes').required();
  accessModes(spec['accessModes'], field.child('accessModes'));
  capacity(spec, field.child('capacity'));
  const policy = text(spec['persistentVolumeReclaimPolicy']);
  if (policy && !reclaimPolicies.includes(policy)) {
    field.child('persistentVolumeReclaimPolicy').notSupported(policy, reclaimPolicies);
  }
  const required = at(spec, 'nodeAffinity', 'required');
  if (isRecord(required)) nodeSelector(required, field.child('nodeAffinity', 'required'));
  else if (isRecord(spec['nodeAffinity']))
    field.child('nodeAffinity', 'required').required('must specify required node constraints');
  source(spec, field);
  const className = text(spec['storageClassName']);
  if (className) dns1123Subdomain(className, field.child('storageClassName'));
  const mode = spec['volumeMode'];
  if (mode !== undefined && !volumeModes.includes(text(mode)))
    field.child('volumeMode').notSupported(mode, volumeModes);
  if (!oldSpec) return;
  if (!sameJson(sourceOf(spec), sourceOf(oldSpec))) {
    root
      .child('spec', 'persistentvolumesource')
      .forbidden('spec.persistentvolumesource is immutable after creation');
  }
  if (!sameJson(mode, oldSpec['volumeMode'])) root.child('volumeMode').invalid(mode, immutable);
};

const notSources = [
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
];

function sourceOf(spec: JsonObject): unknown {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !notSources.includes(key)));
}

export const storageChecks: KindChecks = {
  '/PersistentVolumeClaim': claim,
  '/PersistentVolume': volume,
};
