import { parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { KindInfo } from '../../../kube/strategy/kind.ts';

const clusterScoped = [
  'Namespace',
  'Node',
  'PersistentVolume',
  'StorageClass',
  'ClusterRole',
  'ClusterRoleBinding',
  'PriorityClass',
  'CustomResourceDefinition',
  'APIService',
  'IngressClass',
  'CSIDriver',
  'CSINode',
  'VolumeAttachment',
  'VolumeAttributesClass',
  'RuntimeClass',
  'IPAddress',
  'ServiceCIDR',
  'ResourceSlice',
  'DeviceClass',
  'ValidatingAdmissionPolicy',
  'MutatingAdmissionPolicy',
  'ValidatingWebhookConfiguration',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'CertificateSigningRequest',
];

/** What the server knows of a kind, made up from an object of it. */
export function infoOf(object: { apiVersion: string; kind: string }): KindInfo {
  const { group, version } = parseApiVersion(object.apiVersion);
  const { kind } = object;
  return {
    group,
    version,
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: !clusterScoped.includes(kind),
  };
}

export function named(apiVersion: string, kind: string, rest: object = {}): KubeObject {
  const meta = clusterScoped.includes(kind) ? { name: 'tide' } : { name: 'tide', namespace: 'reef' };
  const { metadata, ...others } = rest as { metadata?: object };
  return { apiVersion, kind, metadata: { ...meta, ...metadata }, ...others };
}

export const podTemplate = (spec: object = {}) => ({
  metadata: { labels: { app: 'tide' } },
  spec: { containers: [{ name: 'web', image: 'tide:1' }], ...spec },
});
