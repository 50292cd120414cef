import { type GroupVersionResource, parseApiVersion } from '../kube/gvk.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { reflectedFromAnnotation } from './names.ts';
import { at, listAt, mapAt, textAt } from './read.ts';

/** workload: runs, and is placed for its own sake. closure: goes where a workload needs it. */
export type Role = 'workload' | 'closure';

export interface PlacedKind extends GroupVersionResource {
  kind: string;
  role: Role;
}

const table: readonly [group: string, resource: string, kind: string, role: Role][] = [
  ['apps', 'deployments', 'Deployment', 'workload'],
  ['apps', 'statefulsets', 'StatefulSet', 'workload'],
  ['apps', 'daemonsets', 'DaemonSet', 'workload'],
  ['apps', 'replicasets', 'ReplicaSet', 'workload'],
  ['', 'replicationcontrollers', 'ReplicationController', 'workload'],
  ['', 'pods', 'Pod', 'workload'],
  ['batch', 'jobs', 'Job', 'workload'],
  ['batch', 'cronjobs', 'CronJob', 'workload'],
  ['', 'configmaps', 'ConfigMap', 'closure'],
  ['', 'secrets', 'Secret', 'closure'],
  ['', 'serviceaccounts', 'ServiceAccount', 'closure'],
  ['', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'closure'],
  ['', 'services', 'Service', 'closure'],
  ['', 'endpoints', 'Endpoints', 'closure'],
  ['discovery.k8s.io', 'endpointslices', 'EndpointSlice', 'closure'],
  ['networking.k8s.io', 'ingresses', 'Ingress', 'closure'],
  ['networking.k8s.io', 'networkpolicies', 'NetworkPolicy', 'closure'],
  ['autoscaling', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'closure'],
  ['policy', 'poddisruptionbudgets', 'PodDisruptionBudget', 'closure'],
];

/**
 * Every kind that is pushed to physical clusters. What is not here never is: RBAC, Events, Leases, quotas and
 * limits are the logical cluster's own business.
 */
export const placedKinds: readonly PlacedKind[] = table.map(([group, resource, kind, role]) => ({
  group,
  version: group === 'autoscaling' ? 'v2' : 'v1',
  resource,
  kind,
  role,
}));

const byResource = new Map(placedKinds.map((kind) => [`${kind.resource}.${kind.group}`, kind]));

export function placedKind(of: { group: string; resource: string }): PlacedKind | undefined {
  return byResource.get(`${of.resource}.${of.group}`);
}

/**
 * What each physical cluster makes by itself of what we push, by the resource that is made: `kind.group` of its
 * controller. An owner of any other kind, an operator's say, is known in the logical cluster only: what it owns runs
 * nowhere unless it is placed.
 */
const makers: Readonly<Record<string, readonly string[]>> = {
  replicasets: ['Deployment.apps'],
  jobs: ['CronJob.batch'],
  pods: ['ReplicaSet.apps', 'StatefulSet.apps', 'DaemonSet.apps', 'ReplicationController.', 'Job.batch'],
};

function isMade({ resource }: PlacedKind, owners: readonly OwnerReference[] = []): boolean {
  const owner = owners.find(({ controller }) => controller === true);
  if (!owner) return false;
  return makers[resource]?.includes(`${owner.kind}.${parseApiVersion(owner.apiVersion).group}`) ?? false;
}

/** Written by the endpoint controllers from a Service's selector: each physical cluster makes its own. */
const madeSlices = new Set(['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']);

/**
 * Whether this very object may be pushed: not reflected from a physical cluster, not made by a controller that
 * the physical cluster runs itself, not one that every cluster has of its own.
 */
export function isPlaceable(kind: PlacedKind, object: KubeObject): boolean {
  const { name, annotations, labels, ownerReferences } = object.metadata;
  if (annotations && Object.hasOwn(annotations, reflectedFromAnnotation)) return false;
  if (kind.role === 'workload') return !isMade(kind, ownerReferences);
  switch (kind.resource) {
    case 'configmaps':
      return name !== 'kube-root-ca.crt';
    case 'serviceaccounts':
      return name !== 'default';
    case 'secrets':
      return textAt(object, 'type') !== 'kubernetes.io/service-account-token';
    case 'services':
      return !isKubernetesService(object);
    case 'endpointslices':
      return !madeSlices.has(mapAt({ labels }, 'labels')?.['endpointslice.kubernetes.io/managed-by'] ?? '');
    default:
      return true;
  }
}

function isKubernetesService(object: KubeObject): boolean {
  return object.metadata.name === 'kubernetes' && object.metadata.namespace === 'default';
}

/** A Service whose endpoints nobody computes: its Endpoints are the user's, or it is only a name. */
export function isSelectorless(service: KubeObject): boolean {
  const selector = mapAt(service, 'spec', 'selector');
  return (
    textAt(service, 'spec', 'type') === 'ExternalName' || !selector || Object.keys(selector).length === 0
  );
}

/** The Service that Endpoints or an EndpointSlice belong to. */
export function serviceOfEndpoints(object: KubeObject): string {
  const label = object.metadata.labels?.['kubernetes.io/service-name'];
  return label ?? object.metadata.name ?? '';
}

/** True once a Job or a bare Pod has come to its end, well or badly. */
export function isFinished(object: { kind: string; status?: unknown }): boolean {
  if (object.kind === 'Pod') {
    const phase = textAt(object, 'status', 'phase');
    return phase === 'Succeeded' || phase === 'Failed';
  }
  if (object.kind !== 'Job') return false;
  return listAt(object, 'status', 'conditions').some(
    (c) => (at(c, 'type') === 'Complete' || at(c, 'type') === 'Failed') && at(c, 'status') === 'True',
  );
}
