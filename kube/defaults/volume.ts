import type { JsonObject } from '../object.ts';
import { isRecord, text } from '../untyped.ts';
import type { Defaulter, Defaulters } from './defaulter.ts';
import { fill, fillZero } from './fill.ts';
import { defaultPullPolicy } from './image.ts';

function volume(object: JsonObject): void {
  if (Object.entries(object).every(([key, value]) => key === 'name' || !isRecord(value)))
    object['emptyDir'] = {};
  const image = object['image'];
  if (isRecord(image)) fillZero(image, 'pullPolicy', defaultPullPolicy(text(image['reference'])));
}

const mode: Defaulter = (source) => fill(source, 'defaultMode', 0o644);
const iscsi: Defaulter = (source) => fillZero(source, 'iscsiInterface', 'default');
const scaleIO: Defaulter = (source) => {
  fillZero(source, 'storageMode', 'ThinProvisioned');
  fillZero(source, 'fsType', 'xfs');
};
const rbd: Defaulter = (source) => {
  fillZero(source, 'pool', 'rbd');
  fillZero(source, 'user', 'admin');
  fillZero(source, 'keyring', '/etc/ceph/keyring');
};

export const volumeDefaults: Defaulters = {
  'core.v1.Volume': volume,
  'core.v1.SecretVolumeSource': mode,
  'core.v1.ConfigMapVolumeSource': mode,
  'core.v1.DownwardAPIVolumeSource': mode,
  'core.v1.ProjectedVolumeSource': mode,
  'core.v1.ServiceAccountTokenProjection': (source) => fill(source, 'expirationSeconds', 3600),
  'core.v1.HostPathVolumeSource': (source) => fill(source, 'type', ''),
  'core.v1.ISCSIVolumeSource': iscsi,
  'core.v1.ISCSIPersistentVolumeSource': iscsi,
  'core.v1.ScaleIOVolumeSource': scaleIO,
  'core.v1.ScaleIOPersistentVolumeSource': scaleIO,
  'core.v1.RBDVolumeSource': rbd,
  'core.v1.RBDPersistentVolumeSource': rbd,
  'core.v1.AzureDiskVolumeSource': (source) => {
    fill(source, 'cachingMode', 'ReadWrite');
    fill(source, 'fsType', 'ext4');
    fill(source, 'readOnly', false);
    fill(source, 'kind', 'Shared');
  },
};
