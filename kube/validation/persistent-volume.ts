import { posix } from 'node:path';
import { sameJson } from '../deep.ts';
import { given } from '../defaults/empty.ts';
import { parseQuantity } from '../defaults/quantity.ts';
import type { JsonObject } from '../object.ts';
import { scaledQuantity } from '../quantity.ts';
import { at, getOwn, isRecord, record, strings, text } from '../untyped.ts';
import { volumeModes } from './claim.ts';
import { jsonDiff } from './diff.ts';
import { type Field, sortedMap } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { persistentSource, sourcesOf } from './persistent-source.ts';
import { nodeSelector } from './pod/affinity.ts';
import { accessModes } from './pod/resources.ts';
import { dns1123Subdomain, immutable, isSet } from './rules.ts';

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

function capacity(spec: JsonObject, field: Field): void {
  const list = record(spec['capacity']);
  const names = Object.keys(list);
  if (names.length === 0) field.required();
  if (!names.includes('storage') || names.length > 1)
    field.notSupported(sortedMap(given(spec, 'capacity')), ['storage']);
  for (const name of names) {
    const quantity = parseQuantity(list[name]);
    if (!quantity || quantity.value > 0n) continue;
    const whole = scaledQuantity(quantity);
    if (whole < 0n) field.key(name).invalid(Number(whole), 'must be a valid resource quantity');
    field.key(name).invalid(list[name], 'must be greater than zero');
  }
}

function placed(spec: JsonObject, field: Field): void {
  const required = at(spec, 'nodeAffinity', 'required');
  if (isRecord(required)) nodeSelector(required, field.child('required'));
  else if (isRecord(spec['nodeAffinity']))
    field.child('required').required('must specify required node constraints');
}

function classes(spec: JsonObject, field: Field): void {
  const className = text(spec['storageClassName']);
  if (className) dns1123Subdomain(className, field.child('storageClassName'));
  const mode = spec['volumeMode'];
  if (mode !== undefined && !volumeModes.includes(text(mode)))
    field.child('volumeMode').notSupported(mode, volumeModes);
  const attributes = spec['volumeAttributesClassName'];
  if (typeof attributes !== 'string') return;
  const path = field.child('volumeAttributesClassName');
  if (!attributes) path.required('an empty string is disallowed');
  else dns1123Subdomain(attributes, path);
  if (!isSet(spec, 'csi'))
    field.child('csi').required('has to be specified when using volumeAttributesClassName');
}

const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];
const mountOptions = 'volume.beta.kubernetes.io/mount-options';

const volume: KindCheck = ({ object, spec, oldSpec }, root) => {
  looked(object, spec, root.child('spec'));
  const options = at(object, 'metadata', 'annotations', mountOptions);
  if (options !== undefined && !mountable.some((name) => isSet(spec, name))) {
    const rule = 'may not specify mount options for this volume type';
    root.child('metadata', 'annotations', mountOptions).forbidden(rule);
  }
  if (!oldSpec) return;
  looked(object, spec, root.child('spec'));
  kept(spec, oldSpec, root);
};

/** kube-apiserver looks twice when a volume is replaced, and tells all twice. */
function looked(object: JsonObject, spec: JsonObject, field: Field): void {
  if (strings(spec['accessModes']).length === 0) field.child('accessModes').required();
  accessModes(spec['accessModes'], field.child('accessModes'));
  capacity(spec, field.child('capacity'));
  const policy = text(spec['persistentVolumeReclaimPolicy']);
  const policyPath = field.child('persistentVolumeReclaimPolicy');
  if (policy && !reclaimPolicies.includes(policy)) policyPath.notSupported(policy, reclaimPolicies);
  placed(spec, field.child('nodeAffinity'));
  persistentSource(spec, text(at(object, 'metadata', 'name')), field);
  const directory = at(spec, 'hostPath', 'path');
  if (policy === 'Recycle' && typeof directory === 'string' && /^\/+$/.test(posix.normalize(directory)))
    policyPath.forbidden("may not be 'recycle' for a hostPath mount of '/'");
  classes(spec, field);
}

function kept(spec: JsonObject, oldSpec: JsonObject, root: Field): void {
  const [now, before] = [sourcesOf(spec), sourcesOf(oldSpec)];
  const expands = at(before, 'csi', 'controllerExpandSecretRef') !== undefined;
  if (isRecord(now['csi']) && isRecord(before['csi']) && !expands) {
    const { controllerExpandSecretRef: _added, ...rest } = now['csi'];
    now['csi'] = rest;
  }
  if (!sameJson(now, before)) {
    const shown = (value: JsonObject) => internal(value, 'core.PersistentVolumeSource');
    const rule = 'spec.persistentvolumesource is immutable after creation';
    root.child('spec', 'persistentvolumesource').forbidden(`${rule}\n${jsonDiff(shown(before), shown(now))}`);
  }
  const { volumeMode: mode, volumeAttributesClassName: attributes } = spec;
  if (!sameJson(mode, oldSpec['volumeMode'])) root.child('volumeMode').invalid(mode ?? null, immutable);
  keptPlace(spec['nodeAffinity'], oldSpec['nodeAffinity'], root.child('nodeAffinity'));
  if (oldSpec['volumeAttributesClassName'] !== undefined && attributes === undefined) {
    const rule = 'update from non-nil value to nil is forbidden';
    root.child('spec', 'volumeAttributesClassName').forbidden(rule);
  }
}

/** Labels of nodes that have another name since they are stable. */
const stable: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** Where the data is does not change; it may be said in newer words. */
function keptPlace(now: unknown, before: unknown, field: Field): void {
  if (!isRecord(before) || sameJson(now, renamed(before, now))) return;
  const shown = isRecord(now) ? internal(now as JsonObject, 'core.VolumeNodeAffinity') : null;
  field.invalid(shown, `${immutable}, except for updating from beta label to GA`);
}

/** `before`, with a label's newer name where `now` has that in the same place. */
function renamed(before: unknown, now: unknown): unknown {
  if (Array.isArray(before))
    return before.map((one, i) => renamed(one, Array.isArray(now) ? now[i] : undefined));
  if (!isRecord(before)) return before;
  return Object.fromEntries(
    Object.entries(before).map(([name, value]) => {
      const there = at(now, name);
      const newer = name === 'key' && typeof value === 'string' ? getOwn(stable, value) : undefined;
      return [name, newer !== undefined && newer === there ? newer : renamed(value, there)];
    }),
  );
}

export const persistentVolumeChecks: KindChecks = { '/PersistentVolume': volume };
