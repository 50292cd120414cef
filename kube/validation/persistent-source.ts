import { validateDns1123Label } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { isRecord, record, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { driverName } from './pod/volume.ts';
import {
  azureDisk,
  fibreChannel,
  flexVolume,
  flocker,
  hostPath,
  iscsiWith,
  need,
  needMonitors,
  nfs,
  partitioned,
  quobyte,
  type SourceCheck,
  secretName,
  storageOs,
} from './pod/volume-sources.ts';
import { dns1123Label, dns1123Subdomain, isSet, noBacksteps } from './rules.ts';

/** The name and namespace of a Secret. */
const secretOf =
  (name: string): SourceCheck =>
  (source, field) => {
    if (isRecord(source[name])) need('name', 'namespace')(record(source[name]), field.child(name));
  };

const secretNamespace: SourceCheck = (source, field) => {
  if (isRecord(source['secretRef'])) need('namespace')(record(source['secretRef']), field.child('secretRef'));
};

const glusterfs: SourceCheck = (source, field) => {
  need('endpoints', 'path')(source, field);
  const namespace = source['endpointsNamespace'];
  const path = field.child('endpointsNamespace');
  if (namespace === '')
    path.invalid('', 'if the endpointnamespace is set, it must be a valid namespace name');
  else if (typeof namespace === 'string') path.invalidAll(namespace, validateDns1123Label(namespace));
};

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

const csi: SourceCheck = (source, field) => {
  driverName(text(source['driver']), field.child('driver'));
  need('volumeHandle')(source, field);
  for (const secret of csiSecrets) {
    if (!isRecord(source[secret])) continue;
    const { name, namespace } = record(source[secret]);
    const path = field.child(secret);
    if (!text(name)) path.child('name').required();
    else dns1123Subdomain(text(name), path.child('name'));
    if (!text(namespace)) path.child('namespace').required();
    else dns1123Label(text(namespace), path.child('namespace'));
  }
};

const azureFile: SourceCheck = (source, field) => {
  need('secretName', 'shareName')(source, field);
  if (source['secretNamespace'] === '') field.child('secretNamespace').required();
};

const all =
  (...checks: SourceCheck[]): SourceCheck =>
  (source, field) => {
    for (const check of checks) check(source, field);
  };

interface Source {
  check: SourceCheck;
  /** Where kube-apiserver reports what is wrong inside, and that there is more than one, when not at its name. */
  inside?: string;
  surplus?: string;
  /** Looked at even beside another. */
  always?: true;
}

/** In the order in which kube-apiserver looks at them; of several, all but the first are forbidden. */
const sources: Readonly<Record<string, Source>> = {
  hostPath: { check: hostPath },
  gcePersistentDisk: { check: partitioned('pdName'), inside: 'persistentDisk' },
  awsElasticBlockStore: { check: partitioned('volumeID') },
  glusterfs: { check: glusterfs },
  flocker: { check: flocker },
  nfs: { check: nfs },
  rbd: { check: all(needMonitors, need('image')) },
  quobyte: { check: quobyte },
  cephfs: { check: needMonitors, surplus: 'cephFS' },
  iscsi: { check: all(iscsiWith('must be valid format'), secretName) },
  cinder: { check: all(need('volumeID'), secretOf('secretRef')) },
  fc: { check: fibreChannel },
  flexVolume: { check: flexVolume, always: true },
  azureFile: { check: azureFile },
  vsphereVolume: { check: need('volumePath') },
  photonPersistentDisk: { check: need('pdID') },
  portworxVolume: { check: need('volumeID') },
  azureDisk: { check: azureDisk },
  scaleIO: { check: need('gateway', 'system', 'volumeName') },
  local: {
    check: (source, field) => {
      if (!text(source['path'])) field.child('path').required();
      else noBacksteps(text(source['path']), field.child('path'));
    },
  },
  storageos: { check: all(storageOs, secretNamespace) },
  csi: { check: csi },
};

/** The one source of a volume's spec, whose name is `name`. */
export function persistentSource(spec: JsonObject, name: string, field: Field): void {
  let found = false;
  for (const [kind, { check, inside = kind, surplus = kind, always }] of Object.entries(sources)) {
    if (!isSet(spec, kind)) continue;
    const own = record(spec[kind]);
    if (found && !always) field.child(surplus).forbidden('may not specify more than 1 volume type');
    else {
      check(own, field.child(inside));
      if (kind === 'local' && !isRecord(spec['nodeAffinity']))
        field.child('nodeAffinity').required('Local volume requires node affinity');
      if (kind === 'iscsi') portal(own, name, field.child('iscsi', 'targetportal'));
    }
    found = true;
  }
  if (!found) field.required('must specify a volume type');
}

function portal(spec: JsonObject, name: string, field: Field): void {
  const target = text(spec['targetPortal']);
  if (spec['initiatorName'] === undefined || Buffer.byteLength(`${name}:${target}`) <= 64) return;
  const rule =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  field.invalid(target, rule);
}

/** What of a spec says where the volume is. */
export function sourcesOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => Object.hasOwn(sources, key)));
}
