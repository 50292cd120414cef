import type { JsonObject } from '../../object.ts';
import { int, isRecord, record, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Label, inclusiveRange, localDescendingPath, noBacksteps } from '../rules.ts';

export type SourceCheck = (source: JsonObject, field: Field) => void;

export const need =
  (...names: string[]): SourceCheck =>
  (source, field) => {
    for (const name of names) if (!text(source[name])) field.child(name).required();
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

export function hostPath(source: JsonObject, field: Field): void {
  const path = text(source['path']);
  if (!path) {
    field.child('path').required();
    return;
  }
  noBacksteps(path, field.child('path'));
  const type = text(source['type']);
  if (!hostPathTypes.includes(type)) field.child('type').notSupported(type, hostPathTypes);
}

export function gitRepo(source: JsonObject, field: Field): void {
  need('repository')(source, field);
  localDescendingPath(text(source['directory']), field.child('directory'));
}

export function partitioned(name: string): SourceCheck {
  return (source, field) => {
    need(name)(source, field);
    const partition = int(source['partition']);
    if (partition < 0 || partition > 255) field.child('partition').invalid(partition, inclusiveRange(1, 255));
  };
}

const initiatorForms: readonly [string, RegExp][] = [
  ['iqn', /^iqn\.\d{4}-\d{2}\.([a-z0-9-.]+)(:([^,;*&$|\s]+))$/i],
  ['eui', /^eui\.[0-9a-f]{16}$/i],
  ['naa', /^naa\.[0-9a-f]{32}$/i],
];

function initiator(name: string, rule: string, field: Field): void {
  const form = initiatorForms.find(([prefix]) => name.startsWith(prefix));
  if (!form) field.invalid(name, rule);
  else if (!form[1].test(name)) field.invalid(name, 'must be valid format');
}

/** `rule` is what a name of another form is told. */
export const iscsiWith =
  (rule: string): SourceCheck =>
  (source, field) => {
    need('targetPortal', 'iqn')(source, field);
    if (text(source['iqn'])) initiator(text(source['iqn']), rule, field.child('iqn'));
    const lun = int(source['lun']);
    if (lun < 0 || lun > 255) field.child('lun').invalid(lun, inclusiveRange(0, 255));
    const authenticates = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
    if (authenticates && !isRecord(source['secretRef'])) field.child('secretRef').required();
    if (typeof source['initiatorName'] === 'string')
      initiator(source['initiatorName'], rule, field.child('initiatorname'));
  };

export function fibreChannel(source: JsonObject, field: Field): void {
  const names = strings(source['targetWWNs']);
  const ids = strings(source['wwids']);
  const path = field.child('targetWWNs');
  if (names.length + ids.length === 0) path.required('must specify either targetWWNs or wwids, but not both');
  if (names.length > 0 && ids.length > 0)
    path.invalid(names, 'targetWWNs and wwids can not be specified simultaneously');
  if (names.length === 0) return;
  const lun = source['lun'];
  if (typeof lun !== 'number') field.child('lun').required('lun is required if targetWWNs is specified');
  else if (lun < 0 || lun > 255) field.child('lun').invalid(lun, inclusiveRange(0, 255));
}

export function nfs(source: JsonObject, field: Field): void {
  need('server', 'path')(source, field);
  const path = text(source['path']);
  if (!path.startsWith('/')) field.child('path').invalid(path, 'must be an absolute path');
}

const registryRule = 'must be a host:port pair or multiple pairs separated by commas';

function isHostPort(pair: string): boolean {
  return /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair);
}

export function quobyte(source: JsonObject, field: Field): void {
  const registry = text(source['registry']);
  if (!registry) field.child('registry').required(registryRule);
  else if (text(source['tenant']).length >= 65)
    field.child('tenant').required('must be a UUID and may not exceed a length of 64 characters');
  else
    for (const pair of registry.split(','))
      if (!isHostPort(pair)) field.child('registry').invalid(registry, registryRule);
  need('volume')(source, field);
}

export function flocker(source: JsonObject, field: Field): void {
  const name = text(source['datasetName']);
  const uuid = text(source['datasetUUID']);
  if (!name && !uuid) field.required('one of datasetName and datasetUUID is required');
  if (name && uuid)
    field.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (name.includes('/')) field.child('datasetName').invalid(name, "must not contain '/'");
}

export function needMonitors(source: JsonObject, field: Field): void {
  if (strings(source['monitors']).length === 0) field.child('monitors').required();
}

export function secretName(source: JsonObject, field: Field): void {
  if (isRecord(source['secretRef'])) need('name')(record(source['secretRef']), field.child('secretRef'));
}

export function cinder(source: JsonObject, field: Field): void {
  need('volumeID')(source, field);
  secretName(source, field);
}

export function storageOs(source: JsonObject, field: Field): void {
  const name = text(source['volumeName']);
  if (!name) field.child('volumeName').required();
  else dns1123Label(name, field.child('volumeName'));
  const namespace = text(source['volumeNamespace']);
  if (namespace) dns1123Label(namespace, field.child('volumeNamespace'));
  secretName(source, field);
}

export function flexVolume(source: JsonObject, field: Field): void {
  need('driver')(source, field);
  for (const key of Object.keys(record(source['options']))) {
    const slash = key.indexOf('/');
    const namespace = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io'))
      field.child('options').key(key).invalid(key, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const diskKinds = ['Dedicated', 'Managed', 'Shared'];
const managedUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function azureDisk(source: JsonObject, field: Field): void {
  need('diskName', 'diskURI')(source, field);
  const mode = source['cachingMode'];
  if (mode !== undefined && !cachingModes.includes(text(mode)))
    field.child('cachingMode').notSupported(mode, cachingModes);
  const kind = source['kind'];
  if (kind === undefined) return;
  if (!diskKinds.includes(text(kind))) field.child('kind').notSupported(kind, diskKinds);
  const uri = text(source['diskURI']);
  const managed = kind === 'Managed';
  if (!uri.startsWith(managed ? '/subscriptions/' : 'https://'))
    field.child('diskURI').notSupported(uri, [managed ? managedUri : blobUri]);
}
