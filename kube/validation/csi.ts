import { sameJson } from '../deep.ts';
import { parseQuantity } from '../defaults/quantity.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { persistentSource } from './persistent-source.ts';
import { accessModes } from './pod/resources.ts';
import { driverName } from './pod/volume.ts';
import { dns1123Subdomain, immutable, nonNegative, notNegative, qualifiedName } from './rules.ts';

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const leastTokenSeconds = 600;
const mostTokenSeconds = 2 ** 32;

function tokenRequests(value: unknown, field: Field): void {
  const audiences = new Set<string>();
  for (const [index, request] of records(value).entries()) {
    const audience = text(request['audience']);
    if (audiences.has(audience)) {
      field.index(index).child('audience').duplicate(audience);
      continue;
    }
    audiences.add(audience);
    const seconds = request['expirationSeconds'];
    const path = field.index(index).child('expirationSeconds');
    if (typeof seconds !== 'number') continue;
    if (seconds < leastTokenSeconds) path.invalid(seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > mostTokenSeconds)
      path.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  }
}

/** https://kubernetes-csi.github.io/docs/csi-driver-object.html */
const csiDriver: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  // kube-apiserver's word for the first.
  const needed = {
    attachRequired: 'attachedRequired',
    podInfoOnMount: 'podInfoOnMount',
    storageCapacity: 'storageCapacity',
    seLinuxMount: 'seLinuxMount',
  };
  for (const [name, path] of Object.entries(needed))
    if (typeof spec[name] !== 'boolean') field.child(path).required();
  const policy = spec['fsGroupPolicy'];
  if (policy !== undefined && !groupPolicies.includes(text(policy)))
    field.child('fsGroupPolicy').notSupported(policy, groupPolicies);
  tokenRequests(spec['tokenRequests'], field.child('tokenRequests'));
  for (const mode of strings(spec['volumeLifecycleModes']))
    if (!lifecycleModes.includes(mode))
      field.child('volumeLifecycleModes').notSupported(mode, lifecycleModes);
  const period = spec['nodeAllocatableUpdatePeriodSeconds'];
  if (typeof period === 'number' && period < 10) {
    const rule = 'must be greater than or equal to 10 seconds';
    field.child('nodeAllocatableUpdatePeriodSeconds').invalid(period, rule);
  }
  const secrets = spec['serviceAccountTokenInSecrets'];
  if (typeof secrets === 'boolean' && records(spec['tokenRequests']).length === 0) {
    const rule = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    field.child('serviceAccountTokenInSecrets').invalid(secrets, rule);
  }
  for (const [name, path] of oldSpec ? frozenInDriver : [])
    if (!sameJson(spec[name], oldSpec?.[name])) field.child(path).invalid(spec[name], immutable);
};

const frozenInDriver = [
  ['attachRequired', 'attachedRequired'],
  ['volumeLifecycleModes', 'volumeLifecycleModes'],
] as const;

const mostNodeIdBytes = 256;

function nodeDriver(driver: JsonObject, field: Field): void {
  driverName(text(driver['name']), field.child('name'));
  const nodeId = text(driver['nodeID']);
  if (!nodeId) field.child('nodeID').required();
  if (Buffer.byteLength(nodeId) > mostNodeIdBytes)
    field.child('nodeID').invalid(nodeId, `must be ${mostNodeIdBytes} characters or less`);
  nonNegative(at(driver, 'allocatable', 'count'), field.child('allocatable', 'count'));
}

function topologyKeys(keys: readonly string[], field: Field): void {
  for (const [index, key] of keys.entries()) {
    if (!key) field.required();
    if (keys.indexOf(key) < index) field.duplicate(key);
    qualifiedName(key, field);
  }
}

/** What a driver may not change of itself. */
function frozenDriver({ allocatable: _allocatable, ...driver }: JsonObject): unknown {
  return internal(driver, 'storage.CSINodeDriver');
}

/** https://kubernetes-csi.github.io/docs/csi-node-object.html */
const csiNode: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec', 'drivers');
  const drivers = records(spec['drivers']);
  const names = new Set<unknown>();
  for (const [index, driver] of drivers.entries()) {
    const path = field.index(index);
    nodeDriver(driver, path);
    if (names.has(driver['name'])) path.child('name').duplicate(driver['name']);
    names.add(driver['name']);
    topologyKeys(strings(driver['topologyKeys']), path);
  }
  for (const before of records(oldSpec?.['drivers'])) {
    for (const driver of drivers.filter(({ name }) => name === before['name'])) {
      const now = frozenDriver(driver);
      if (!sameJson(now, frozenDriver(before))) field.invalid(now, immutable);
    }
  }
};

/** https://kubernetes.io/docs/concepts/storage/storage-capacity/ */
const storageCapacity: KindCheck = ({ object, old }, root) => {
  labelSelector(object['nodeTopology'], root.child('nodeTopology'));
  dns1123Subdomain(text(object['storageClassName']), root.child('storageClassName'));
  const quantity = parseQuantity(object['capacity']);
  if (quantity && quantity.value < 0n) root.child('capacity').invalid(object['capacity'], notNegative);
  for (const name of old ? ['nodeTopology', 'storageClassName'] : [])
    if (!sameJson(object[name], old?.[name])) root.child(name).invalid(object[name] ?? null, immutable);
};

const mostMetadataBytes = 256 * 1024;
const mostErrorBytes = 1024;

function attachmentStatus(status: JsonObject, field: Field): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(record(status['attachmentMetadata'])))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(text(value));
  if (bytes > mostMetadataBytes) field.child('attachmentMetadata').tooLong(mostMetadataBytes);
  for (const name of ['attachError', 'detachError']) {
    const error = status[name];
    if (Buffer.byteLength(text(at(error, 'message'))) > mostErrorBytes)
      field.child(name, 'message').tooLong(mostMetadataBytes);
    const code = at(error, 'errorCode');
    if (typeof code === 'number' && code < 0)
      field.child(name, 'errorCode').invalid(code, 'must be between 0 and 2147483647, inclusive');
  }
}

/** A volume of a pod of old, which stood for a PersistentVolume. */
function inlineVolume(spec: JsonObject, field: Field): void {
  const rule = 'may not be specified in the context of inline volumes';
  for (const name of ['claimRef', 'nodeAffinity'])
    if (isRecord(spec[name])) field.child(name).forbidden(rule);
  if (Object.keys(record(spec['capacity'])).length > 0) field.child('capacity').forbidden(rule);
  if (!isRecord(spec['csi']))
    field.child('csi').required('has to be specified in the context of inline volumes');
  if (strings(spec['accessModes']).length === 0) field.child('accessModes').required();
  accessModes(spec['accessModes'], field.child('accessModes'));
  const policy = text(spec['persistentVolumeReclaimPolicy']);
  if (policy && policy !== 'Retain')
    field
      .child('persistentVolumeReclaimPolicy')
      .forbidden('may only be Retain in the context of inline volumes');
  persistentSource(spec, '', field);
}

/** https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume-attachment-v1/ */
const volumeAttachment: KindCheck = ({ object, spec, oldSpec }, root) => {
  const field = root.child('spec');
  driverName(text(spec['attacher']), field.child('attacher'));
  const source = record(spec['source']);
  const name = source['persistentVolumeName'];
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (typeof name === 'string' && isRecord(source['inlineVolumeSpec'])) field.child('source').forbidden(one);
  else if (name === '')
    field.child('source', 'persistentVolumeName').required('must specify non empty persistentVolumeName');
  else if (typeof name !== 'string' && !isRecord(source['inlineVolumeSpec']))
    field.child('source').required(one);
  dns1123Subdomain(text(spec['nodeName']), field.child('nodeName'));
  if (typeof name !== 'string' && isRecord(source['inlineVolumeSpec']))
    inlineVolume(source['inlineVolumeSpec'], field.child('source', 'inlineVolumeSpec'));
  attachmentStatus(record(object['status']), root.child('status'));
  if (typeof name === 'string') dns1123Subdomain(name, field.child('source', 'persistentVolumeName'));
  if (oldSpec && !sameJson(spec, oldSpec))
    field.invalid(internal(spec, 'storage.VolumeAttachmentSpec'), immutable);
};

export const csiChecks: KindChecks = {
  'storage.k8s.io/CSIDriver': csiDriver,
  'storage.k8s.io/CSINode': csiNode,
  'storage.k8s.io/CSIStorageCapacity': storageCapacity,
  'storage.k8s.io/VolumeAttachment': volumeAttachment,
};
