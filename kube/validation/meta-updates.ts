import type { KindInfo } from '../strategy/kind.ts';

/**
 * What kube-apiserver looks at again when it validates an update of a kind, after what it looks at for every kind:
 * each look repeats its causes. `changes`: what may not change; `whole`: all metadata as on create; `plain`: without
 * the rule that finalizers be qualified.
 */
interface Looks {
  changes: number;
  whole: number;
  plain?: true;
}

const bothLooks: Looks = { changes: 1, whole: 1 };
const wholeLook: Looks = { changes: 0, whole: 1 };
const plainWhole: Looks = { ...wholeLook, plain: true };
const plainChanges: Looks = { changes: 1, whole: 0, plain: true };

const kinds: Readonly<Record<string, Looks>> = {
  '/Pod': bothLooks,
  '/ConfigMap': bothLooks,
  '/Secret': bothLooks,
  '/PersistentVolumeClaim': bothLooks,
  '/Namespace': bothLooks,
  '/Node': bothLooks,
  '/ServiceAccount': bothLooks,
  '/Endpoints': bothLooks,
  '/PersistentVolume': { changes: 0, whole: 2 },
  '/LimitRange': wholeLook,
  'apps/ControllerRevision': bothLooks,
  'batch/Job': bothLooks,
  'networking.k8s.io/Ingress': bothLooks,
  'networking.k8s.io/IngressClass': bothLooks,
  'networking.k8s.io/IPAddress': bothLooks,
  'storage.k8s.io/StorageClass': bothLooks,
  'storage.k8s.io/CSIStorageCapacity': bothLooks,
  'storage.k8s.io/VolumeAttributesClass': bothLooks,
  'storage.k8s.io/CSINode': wholeLook,
  'storage.k8s.io/VolumeAttachment': wholeLook,
  'resource.k8s.io/ResourceClaim': bothLooks,
  'resource.k8s.io/ResourceClaimTemplate': bothLooks,
  'resource.k8s.io/DeviceClass': bothLooks,
  'discovery.k8s.io/EndpointSlice': wholeLook,
  'flowcontrol.apiserver.k8s.io/FlowSchema': wholeLook,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': wholeLook,
  'policy/PodDisruptionBudget': { changes: 0, whole: 0 },
  'rbac.authorization.k8s.io/Role': bothLooks,
  'rbac.authorization.k8s.io/ClusterRole': bothLooks,
  'rbac.authorization.k8s.io/RoleBinding': bothLooks,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bothLooks,
  'certificates.k8s.io/CertificateSigningRequest': bothLooks,
  'coordination.k8s.io/Lease': plainChanges,
  'apiextensions.k8s.io/CustomResourceDefinition': plainChanges,
  'node.k8s.io/RuntimeClass': { ...bothLooks, plain: true },
  'apiregistration.k8s.io/APIService': { ...bothLooks, plain: true },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': plainWhole,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': plainWhole,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': plainWhole,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': plainWhole,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': plainWhole,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': plainWhole,
};

export function looksOf({ group, kind, custom }: KindInfo & { custom?: boolean }): Looks {
  const standard: Looks = custom ? plainChanges : { changes: 1, whole: 0 };
  return kinds[`${group}/${kind}`] ?? standard;
}
