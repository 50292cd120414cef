import { compareQuantities } from '../../defaults/quantity.ts';
import { validateDns1123Label, validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, text } from '../../untyped.ts';
import { claimSpec } from '../claim.ts';
import type { Field } from '../field.ts';
import { labels } from '../labels.ts';
import { annotations, metadataFields } from '../meta.ts';
import { fileMode, isSet, oneOf } from '../rules.ts';
import { downward, keyToPath, projected } from './projected.ts';
import {
  azureDisk,
  cinder,
  fibreChannel,
  flexVolume,
  flocker,
  gitRepo,
  hostPath,
  iscsiWith,
  need,
  needMonitors,
  nfs,
  partitioned,
  quobyte,
  type SourceCheck,
  storageOs,
} from './volume-sources.ts';

const files =
  (name: string): SourceCheck =>
  (source, field) => {
    need(name)(source, field);
    fileMode(source['defaultMode'], field.child('defaultMode'));
    for (const [index, item] of records(source['items']).entries())
      keyToPath(item, field.child('items').index(index));
  };

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

/** Of the metadata of a template, only labels and annotations count. */
const forbiddenMetadata = metadataFields.filter((name) => name !== 'labels' && name !== 'annotations');

function ephemeral(source: JsonObject, field: Field): void {
  const template = source['volumeClaimTemplate'];
  const path = field.child('volumeClaimTemplate');
  if (!isRecord(template)) {
    path.required();
    return;
  }
  const metadata = record(template['metadata']);
  annotations(metadata['annotations'], path.child('metadata', 'annotations'));
  labels(metadata['labels'], path.child('metadata', 'labels'));
  for (const name of forbiddenMetadata)
    if (metadata[name] !== undefined) path.child('metadata', name).forbidden('cannot be set');
  claimSpec(template['spec'], path.child('spec'));
}

function emptyDir(source: JsonObject, field: Field): void {
  if ((compareQuantities(source['sizeLimit'] ?? '0', '0') ?? 0) >= 0) return;
  field.child('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

interface Source {
  check(source: JsonObject, field: Field, isPod: boolean): void;
  /** Where kube-apiserver reports what is wrong inside, and that there is more than one, when not at its name. */
  inside?: string;
  surplus?: string;
}

/** In the order in which kube-apiserver looks at them; of several, all but the first are forbidden. */
const sources: Readonly<Record<string, Source>> = {
  emptyDir: { check: emptyDir },
  hostPath: { check: hostPath },
  gitRepo: { check: gitRepo },
  gcePersistentDisk: { check: partitioned('pdName'), inside: 'persistentDisk' },
  awsElasticBlockStore: { check: partitioned('volumeID') },
  secret: { check: files('secretName') },
  nfs: { check: nfs },
  iscsi: { check: iscsiWith('must be valid format starting with iqn, eui, or naa') },
  glusterfs: { check: need('endpoints', 'path') },
  flocker: { check: flocker },
  persistentVolumeClaim: { check: need('claimName') },
  rbd: {
    check: (source, field) => {
      needMonitors(source, field);
      need('image')(source, field);
    },
  },
  cinder: { check: cinder },
  cephfs: { check: needMonitors, surplus: 'cephFS' },
  quobyte: { check: quobyte },
  downwardAPI: { check: downward, surplus: 'downwarAPI' },
  fc: { check: fibreChannel },
  flexVolume: { check: flexVolume },
  configMap: { check: files('name') },
  azureFile: { check: need('secretName', 'shareName') },
  vsphereVolume: { check: need('volumePath') },
  photonPersistentDisk: { check: need('pdID') },
  portworxVolume: { check: need('volumeID') },
  azureDisk: { check: azureDisk },
  storageos: { check: storageOs },
  projected: { check: projected },
  scaleIO: { check: need('gateway', 'system', 'volumeName') },
  csi: { check: csi },
  ephemeral: { check: ephemeral },
  image: {
    check: (source, field, isPod) => {
      if (isPod) need('reference')(source, field);
      oneOf(source['pullPolicy'], pullPolicies, field.child('pullPolicy'));
    },
  },
};

const inOrder = Object.entries(sources);

function volumeSource(volume: JsonObject, field: Field, pod: PodContext): void {
  let found = false;
  const name = text(volume['name']);
  for (const [kind, { check, inside = kind, surplus = kind }] of inOrder) {
    if (!isSet(volume, kind)) continue;
    const source = record(volume[kind]);
    if (found) field.child(surplus).forbidden('may not specify more than 1 volume type');
    else check(source, field.child(inside), pod.isPod);
    if (kind === 'iscsi' && typeof source['initiatorName'] === 'string') portalLength(name, source, field);
    if (kind === 'ephemeral' && !found && pod.name && name) claimName(`${pod.name}-${name}`, name, field);
    found = true;
  }
  if (!found) field.required('must specify a volume type');
}

function portalLength(name: string, source: JsonObject, field: Field): void {
  if (Buffer.byteLength(`${name}:${text(source['targetPortal'])}`) <= 64) return;
  const rule =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  field.child('name').invalid(name, rule);
}

function claimName(claim: string, name: string, field: Field): void {
  for (const message of validateDns1123Subdomain(claim))
    field.child('name').invalid(name, `PVC name ${JSON.stringify(claim)}: ${message}`);
}

/** What of the pod its volumes depend on; `name` is empty in templates. */
export interface PodContext {
  isPod: boolean;
  name: string;
}

/** The valid volumes by name: a mount of any other is a cause of its own. */
export function volumes(value: unknown, pod: PodContext, field: Field): Map<string, JsonObject> {
  const valid = new Map<string, JsonObject>();
  for (const [index, volume] of records(value).entries()) {
    const before = field.causes.length;
    const path = field.index(index);
    const name = text(volume['name']);
    volumeSource(volume, path, pod);
    if (!name) path.child('name').required();
    else path.child('name').invalidAll(name, validateDns1123Label(name));
    if (valid.has(name)) path.child('name').duplicate(name);
    if (field.causes.length === before) valid.set(name, volume);
  }
  return valid;
}
