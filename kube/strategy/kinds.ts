import { randomUUID } from 'node:crypto';
import { child } from '../defaults/fill.ts';
import type { JsonObject, KubeObject, ObjectMeta } from '../object.ts';
import { timestamp } from '../timestamp.ts';
import { at, isRecord, records, strings, text } from '../untyped.ts';
import { prepareJob } from './job.ts';
import { preparePod, preparePodStatus } from './pod.ts';
import { dropGivenUp } from './resource-claim.ts';
import { dropTypeDependentFields, ipFamilies } from './service.ts';
import { stampConditions } from './subresource.ts';
import { beginPhase, claimDataSource, keepPhaseTime } from './volumes.ts';

/** How a kind departs from the common rules; every field is optional. */
export interface KindRules {
  /** What bumps metadata.generation when it changes; absent for kinds without generation. */
  generation?: readonly (string | readonly string[])[];
  /** It is created without one. */
  noFirstGeneration?: true;
  /** A PUT to a missing name creates. */
  createOnUpdate?: true;
  /** An update must carry its resourceVersion. */
  conditionalOnly?: true;
  /** A client may set status on create (and, without a status endpoint, at any time). */
  ownStatus?: true;
  /** Metadata that `/status` does not change. */
  statusKeeps?: readonly (keyof ObjectMeta)[];
  graceful?: true;
  create?(object: KubeObject, warn: (message: string) => void): void;
  update?(object: KubeObject, old: KubeObject): void;
  updateStatus?(object: KubeObject, old: KubeObject): void;
}

const spec = ['spec'] as const;
const everything = ['spec', ['metadata', 'annotations']] as const;
const webhooks: KindRules = { generation: ['webhooks'], conditionalOnly: true };
export const allMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;
const rbac: KindRules = { createOnUpdate: true };

function namespaceFinalizer(object: KubeObject): void {
  const body = object as unknown as JsonObject;
  const wanted = strings(at(object, 'spec', 'finalizers'));
  if (!wanted.includes('kubernetes')) child(body, 'spec')['finalizers'] = [...wanted, 'kubernetes'];
}

const templateGeneration = 'deprecated.daemonset.template.generation';

function annotateTemplateGeneration(object: KubeObject, value: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [templateGeneration]: String(value) };
}

function templateGenerationOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[templateGeneration] ?? 1);
}

/** Labels that are left out are those of the template, which whoever tells a status need not have sent. */
function labelsOfTemplate(object: KubeObject): void {
  const labels = at(object, 'spec', 'template', 'metadata', 'labels');
  if (isRecord(labels) && Object.keys(object.metadata.labels ?? {}).length === 0) {
    object.metadata.labels = { ...(labels as Record<string, string>) };
  }
}

/** Secrets of a ServiceAccount are in its namespace: a name is all there is to say. */
function namesOfSecrets(object: KubeObject): void {
  const body = object as unknown as JsonObject;
  if (body['secrets'] !== undefined)
    body['secrets'] = records(body['secrets']).map(({ name }) => (name === undefined ? {} : { name }));
}

function storedVersions(object: KubeObject): void {
  const stored = records(at(object, 'spec', 'versions')).find((version) => version['storage'] === true);
  if (stored) child(object as unknown as JsonObject, 'status')['storedVersions'] = [text(stored['name'])];
}

/** What this server serves itself is always there. */
function availableWhenLocal(object: KubeObject): void {
  if (isRecord(at(object, 'spec', 'service'))) return;
  child(object as unknown as JsonObject, 'status')['conditions'] = [
    {
      type: 'Available',
      status: 'True',
      lastTransitionTime: timestamp(),
      reason: 'Local',
      message: 'Local APIServices are always available',
    },
  ];
}

const core: Record<string, KindRules> = {
  '/ConfigMap': {},
  '/Endpoints': { createOnUpdate: true },
  '/Event': { createOnUpdate: true },
  'events.k8s.io/Event': { createOnUpdate: true },
  '/LimitRange': {
    createOnUpdate: true,
    create: ({ metadata }) => {
      metadata.name ||= randomUUID();
    },
  },
  '/Namespace': {
    create: namespaceFinalizer,
    update: (object, old) => {
      child(object as unknown as JsonObject, 'spec')['finalizers'] = strings(at(old, 'spec', 'finalizers'));
    },
  },
  '/Node': { ownStatus: true },
  '/PersistentVolume': { create: beginPhase, updateStatus: keepPhaseTime },
  '/PersistentVolumeClaim': { create: (claim) => claimDataSource(claim), update: claimDataSource },
  '/Pod': {
    generation: spec,
    statusKeeps: ['ownerReferences'],
    graceful: true,
    create: preparePod,
    updateStatus: preparePodStatus,
  },
  '/PodTemplate': { generation: ['template'] },
  '/ReplicationController': { generation: spec, updateStatus: labelsOfTemplate },
  '/ServiceAccount': { create: namesOfSecrets, update: namesOfSecrets },
  '/Service': {
    createOnUpdate: true,
    create: (service) => ipFamilies(service),
    update: (object, old) => {
      dropTypeDependentFields(object, old);
      ipFamilies(object, old);
    },
  },
};

const apps: Record<string, KindRules> = {
  'apps/Deployment': { generation: everything, statusKeeps: ['labels'] },
  'apps/ReplicaSet': { generation: spec },
  'apps/StatefulSet': { generation: spec },
  'apps/DaemonSet': {
    generation: spec,
    create: (object) => annotateTemplateGeneration(object, 1),
    updateStatus: (object, old) => annotateTemplateGeneration(object, templateGenerationOf(old)),
    update: (object, old) => {
      const before = templateGenerationOf(old);
      const same =
        JSON.stringify(at(object, 'spec', 'template')) === JSON.stringify(at(old, 'spec', 'template'));
      annotateTemplateGeneration(object, same ? before : before + 1);
    },
  },
  'batch/Job': { generation: spec, create: prepareJob, updateStatus: labelsOfTemplate },
  'batch/CronJob': { generation: spec },
};

const cluster: Record<string, KindRules> = {
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': {
    generation: spec,
    conditionalOnly: true,
    statusKeeps: allMetadata,
  },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': {
    generation: spec,
    conditionalOnly: true,
  },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { generation: spec, conditionalOnly: true },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': { generation: spec, conditionalOnly: true },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    generation: spec,
    conditionalOnly: true,
    create: storedVersions,
  },
  'apiregistration.k8s.io/APIService': {
    conditionalOnly: true,
    create: availableWhenLocal,
    statusKeeps: allMetadata,
  },
  'certificates.k8s.io/CertificateSigningRequest': {
    update: (object, old) => {
      object.spec = old.spec;
    },
    updateStatus: stampConditions,
  },
  'coordination.k8s.io/Lease': { createOnUpdate: true, conditionalOnly: true },
  'discovery.k8s.io/EndpointSlice': {
    generation: ['addressType', 'endpoints', 'ports', ['metadata', 'labels']],
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': { generation: spec, statusKeeps: allMetadata },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': { generation: spec, statusKeeps: allMetadata },
  'networking.k8s.io/Ingress': { generation: spec },
  'networking.k8s.io/IngressClass': { generation: spec },
  'networking.k8s.io/NetworkPolicy': { generation: spec },
  'node.k8s.io/RuntimeClass': { createOnUpdate: true, conditionalOnly: true },
  'policy/PodDisruptionBudget': { generation: spec, conditionalOnly: true },
  'rbac.authorization.k8s.io/ClusterRole': rbac,
  'rbac.authorization.k8s.io/ClusterRoleBinding': rbac,
  'rbac.authorization.k8s.io/Role': rbac,
  'rbac.authorization.k8s.io/RoleBinding': rbac,
  'resource.k8s.io/DeviceClass': { generation: spec },
  'resource.k8s.io/ResourceSlice': { generation: spec },
  'scheduling.k8s.io/PriorityClass': { generation: [] },
  'storage.k8s.io/CSIDriver': { generation: spec, noFirstGeneration: true, conditionalOnly: true },
  'storage.k8s.io/CSINode': { conditionalOnly: true },
  'storage.k8s.io/CSIStorageCapacity': { conditionalOnly: true },
  'storage.k8s.io/VolumeAttachment': { conditionalOnly: true, statusKeeps: allMetadata },
  'networking.k8s.io/ServiceCIDR': { statusKeeps: allMetadata },
  'resource.k8s.io/ResourceClaim': { statusKeeps: allMetadata, updateStatus: dropGivenUp },
};

/** By `<group>/<kind>`; what is not here follows the common rules. */
export const kindRules: ReadonlyMap<string, KindRules> = new Map(
  Object.entries({ ...core, ...apps, ...cluster }),
);
