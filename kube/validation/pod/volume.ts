import { at, isRecord, record, records, text } from '../../defaults/json.ts';
import { compareQuantities } from '../../defaults/quantity.ts';
import { validateDns1123Label, validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { claimSpec } from '../claim.ts';
import type { Field } from '../field.ts';
import { labels } from '../labels.ts';
import { annotations } from '../meta.ts';
import { fileMode, isSet, localNonReservedPath, noBacksteps } from '../rules.ts';
import { resourceReference, volumeFieldReference } from './env.ts';

type Check = (source: JsonObject, field: Field) => void;

const need =
  (...names: string[]): Check =>
  (source, field) => {
    for (const name of names) if (!text(source[name])) field.child(name).required();
  };

function items(value: unknown, field: Field): void {
  for (const [index, item] of records(value).entries()) {
    const path = field.child('items').index(index);
    need('key', 'path')(item, path);
    localNonReservedPath(text(item['path']), path.child('path'));
    fileMode(item['mode'], path.child('mode'));
  }
}

const files =
  (name: string): Check =>
  (source, field) => {
    need(name)(source, field);
    fileMode(source['defaultMode'], field.child('defaultMode'));
    items(source['items'], field);
  };

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function hostPath(source: JsonObject, field: Field): void {
  const path = text(source['path']);
  if (!path) {
    field.child('path').required();
    return;
  }
  noBacksteps(path, field.child('path'));
  const type = text(source['type']);
  if (!hostPathTypes.includes(type)) field.child('type').notSupported(type, hostPathTypes);
}

function downwardItem(item: JsonObject, field: Field): void {
  need('path')(item, field);
  localNonReservedPath(text(item['path']), field.child('path'));
  const byField = item['fieldRef'];
  const byResource = item['resourceFieldRef'];
  if (isRecord(byField)) {
    volumeFieldReference(byField, field.child('fieldRef'));
    if (isRecord(byResource))
      field
        .child('resource')
        .invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (isRecord(byResource)) resourceReference(byResource, field.child('resourceFieldRef'), true);
  else field.child('fieldRef').required('one of fieldRef and resourceFieldRef is required');
  fileMode(item['mode'], field.child('mode'));
}

function downward(source: JsonObject, field: Field): void {
  fileMode(source['defaultMode'], field.child('defaultMode'));
  for (const item of records(source['items'])) downwardItem(item, field);
}

const tokenSeconds = [600, 2 ** 32];

function token(source: JsonObject, field: Field): void {
  const seconds = source['expirationSeconds'];
  const [least = 0, most = 0] = tokenSeconds;
  if (typeof seconds === 'number' && seconds < least) {
    field.child('expirationSeconds').invalid(seconds, 'may not specify a duration less than 10 minutes');
  }
  if (typeof seconds === 'number' && seconds > most) {
    field.child('expirationSeconds').invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  if (!text(source['path'])) field.child('path').required();
  else localNonReservedPath(text(source['path']), field.child('path'));
}

const projections: [string, Check][] = [
  [
    'secret',
    (source, field) => {
      need('name')(source, field);
      items(source['items'], field);
    },
  ],
  [
    'configMap',
    (source, field) => {
      need('name')(source, field);
      items(source['items'], field);
    },
  ],
  [
    'downwardAPI',
    (source, field) => {
      for (const item of records(source['items'])) downwardItem(item, field);
    },
  ],
  ['serviceAccountToken', token],
  ['clusterTrustBundle', () => {}],
  ['podCertificate', () => {}],
];

function projected(source: JsonObject, field: Field): void {
  fileMode(source['defaultMode'], field.child('defaultMode'));
  for (const [index, one] of records(source['sources']).entries()) {
    const path = field.child('sources').index(index);
    let count = 0;
    for (const [name, check] of projections) {
      if (!isSet(one, name)) continue;
      count++;
      if (count > 1) path.child(name).forbidden('may not specify more than 1 volume type per source');
      else check(record(one[name]), path.child(name));
    }
    if (count > 1) path.forbidden('may not specify more than 1 volume type per source');
  }
}

function nfs(source: JsonObject, field: Field): void {
  need('server', 'path')(source, field);
  const path = text(source['path']);
  if (!path.startsWith('/')) field.child('path').invalid(path, 'must be an absolute path');
}

export function driverName(name: string, field: Field): void {
  if (!name) {
    field.required();
    return;
  }
  if (name.length > 63) field.tooLong(63);
  field.invalidAll(name, validateDns1123Subdomain(name.toLowerCase()));
}

function csi(source: JsonObject, field: Field): void {
  driverName(text(source['driver']), field.child('driver'));
  const secret = source['nodePublishSecretRef'];
  if (!isRecord(secret)) return;
  const name = text(secret['name']);
  if (!name) field.child('nodePublishSecretRef', 'name').required();
  else field.child('name').invalidAll(name, validateDns1123Subdomain(name));
}

function ephemeral(source: JsonObject, field: Field): void {
  const template = source['volumeClaimTemplate'];
  const path = field.child('volumeClaimTemplate');
  if (!isRecord(template)) {
    path.required();
    return;
  }
  labels(at(template, 'metadata', 'labels'), path.child('metadata', 'labels'));
  annotations(at(template, 'metadata', 'annotations'), path.child('metadata', 'annotations'));
  claimSpec(template['spec'], path.child('spec'));
}

/** In the order in which kube-apiserver looks at them; of several, all but the first are forbidden. */
const sources: [string, Check][] = [
  [
    'emptyDir',
    (source, field) => {
      if ((compareQuantities(source['sizeLimit'] ?? '0', '0') ?? 0) >= 0) return;
      field.child('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
    },
  ],
  ['hostPath', hostPath],
  ['gitRepo', need('repository')],
  ['gcePersistentDisk', need('pdName')],
  ['awsElasticBlockStore', need('volumeID')],
  ['secret', files('secretName')],
  ['nfs', nfs],
  ['iscsi', need('targetPortal')],
  ['glusterfs', need('endpoints', 'path')],
  ['flocker', () => {}],
  ['persistentVolumeClaim', need('claimName')],
  ['rbd', need('image')],
  ['cinder', need('volumeID')],
  ['cephfs', () => {}],
  ['quobyte', need('registry', 'volume')],
  ['downwardAPI', downward],
  ['fc', () => {}],
  ['flexVolume', need('driver')],
  ['configMap', files('name')],
  ['azureFile', need('secretName', 'shareName')],
  ['vsphereVolume', need('volumePath')],
  ['photonPersistentDisk', need('pdID')],
  ['portworxVolume', need('volumeID')],
  ['azureDisk', need('diskName', 'diskURI')],
  ['storageos', () => {}],
  ['projected', projected],
  ['scaleIO', need('gateway', 'system', 'volumeName')],
  ['csi', csi],
  ['ephemeral', ephemeral],
  ['image', () => {}],
];

/** The sources of a PersistentVolume and of a pod's volume overlap; both count them alike. */
export function volumeSource(volume: JsonObject, field: Field): void {
  let found = false;
  for (const [name, check] of sources) {
    if (!isSet(volume, name)) continue;
    if (found) field.child(name).forbidden('may not specify more than 1 volume type');
    else check(record(volume[name]), field.child(name));
    found = true;
  }
  if (!found) field.required('must specify a volume type');
}

/** The valid volumes by name: a mount of any other is a cause of its own. */
export function volumes(value: unknown, field: Field): Map<string, JsonObject> {
  const valid = new Map<string, JsonObject>();
  for (const [index, volume] of records(value).entries()) {
    const before = field.causes.length;
    const path = field.index(index);
    const name = text(volume['name']);
    volumeSource(volume, path);
    if (!name) path.child('name').required();
    else path.child('name').invalidAll(name, validateDns1123Label(name));
    if (valid.has(name)) path.child('name').duplicate(name);
    if (field.causes.length === before) valid.set(name, volume);
  }
  return valid;
}
