import { parseApiVersion } from '../kube/gvk.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { listAt, mapAt, textAt } from '../kube/untyped.ts';
import { managedByLabel, mirroringController, sliceController } from './endpoints.ts';
import { kindNamed, type PlacedKind, type WorkloadKind, type WorkloadKindName } from './kinds.ts';
import { isPlacementMark } from './marks.ts';
import { adoptedAnnotation, isSystemNamespace, scalesHereAnnotation } from './names.ts';
import { podAmounts } from './quota.ts';
import { isReflected } from './reflected.ts';

/**
 * Whose controllers make a kind on each physical cluster by themselves. An owner of any other kind, an operator's say,
 * is known in the logical cluster only: what it owns runs nowhere unless it is placed.
 */
const makers: Record<WorkloadKindName, readonly WorkloadKindName[]> = {
  Deployment: [],
  StatefulSet: [],
  DaemonSet: [],
  ReplicaSet: ['Deployment'],
  ReplicationController: [],
  Pod: ['ReplicaSet', 'StatefulSet', 'DaemonSet', 'ReplicationController', 'Job'],
  // Those that a CronJob made are reflected. Any other is a user's (kubectl create job --from=cronjob/x) and nobody else runs it.
  Job: [],
  CronJob: [],
  Counted: [],
  Full: [],
};

function isMade({ kind }: WorkloadKind, owners: readonly OwnerReference[] = []): boolean {
  const owner = owners.find(({ controller }) => controller === true);
  if (!owner) return false;
  const { group } = parseApiVersion(owner.apiVersion);
  return makers[kind].some((maker) => maker === owner.kind && kindNamed(maker)?.group === group);
}

const adoptable = ['Pod', 'ReplicaSet'] as const;

/** Whether there is anything whose controller takes over one of this kind that somebody else has made. */
export function isAdoptable(kind: string): kind is (typeof adoptable)[number] {
  return adoptable.some((one) => one === kind);
}

/** Whether the controller of this one may take over one of kind `made`. */
export function mayAdopt({ group, kind }: { group: string; kind: string }, made: string): boolean {
  if (!isAdoptable(made)) return false;
  return makers[made].some((maker) => maker === kind && kindNamed(maker)?.group === group);
}

/** One of its own that a workload has taken over where both run stays what it was here: placed itself. */
export function isAdopted({ kind, metadata: { uid, annotations } }: KubeObject): boolean {
  return isAdoptable(kind) && uid !== undefined && annotations?.[adoptedAnnotation] === uid;
}

/** Of a ReplicaSet that a Deployment has adopted: that one, which says how many there are of it. */
export function adoptedBy(object: KubeObject): OwnerReference | undefined {
  if (object.kind !== 'ReplicaSet' || !isAdopted(object)) return undefined;
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Written by the endpoint controllers from a Service's selector: each physical cluster makes its own. */
const madeSlices = new Set<string>([sliceController, mirroringController]);

/**
 * Whether this very object may be pushed: not the system's own, not reflected from a physical cluster, not made by a
 * controller that the physical cluster runs itself, not one that every cluster has of its own.
 */
export function isPlaceable(kind: PlacedKind, object: KubeObject): boolean {
  const { name, namespace = '', labels, ownerReferences } = object.metadata;
  if (isSystemNamespace(namespace)) return false;
  if (isReflected(object)) return false;
  if (kind.role === 'workload') return isAdopted(object) || !isMade(kind, ownerReferences);
  switch (kind.resource) {
    case 'configmaps':
      return name !== 'kube-root-ca.crt';
    case 'serviceaccounts':
      return !isDefaultAccount(kind, name) || saysSomething(object);
    case 'secrets':
      return textAt(object, 'type') !== 'kubernetes.io/service-account-token';
    case 'services':
      return !isKubernetesService(object);
    case 'horizontalpodautoscalers':
      return !scalesHere(object);
    case 'resourcequotas':
      return Object.keys(podAmounts(object.spec)).length > 0;
    case 'endpointslices':
      return !madeSlices.has(mapAt({ labels }, 'labels')?.[managedByLabel.slice] ?? '');
    default:
      return true;
  }
}

/** An autoscaler by metrics, or of a target, that only its logical cluster has: it scales there, like a user. */
export function scalesHere({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[scalesHereAnnotation] !== undefined;
}

/**
 * An autoscaler of a custom resource: it scales where that is, which is its logical cluster. By a rule its target's replicas are
 * what the logical cluster says: on each cluster it and the syncer would take turns at them for ever.
 */
export function isOfCustom({ resource }: { resource: string }, { spec }: KubeObject): boolean {
  if (resource !== 'horizontalpodautoscalers') return false;
  const kind = textAt(spec, 'scaleTargetRef', 'kind') ?? '';
  const { group } = parseApiVersion(textAt(spec, 'scaleTargetRef', 'apiVersion') ?? '');
  return group !== '' && kindNamed(kind)?.group !== group;
}

/** The ServiceAccount that every namespace gets by itself, there as here. */
export function isDefaultAccount({ resource }: { resource: string }, name: string | undefined): boolean {
  return resource === 'serviceaccounts' && name === 'default';
}

/** A user wants something of it that it has not got by itself. */
function saysSomething(account: KubeObject): boolean {
  const { labels, annotations } = account.metadata;
  const isSaid = (key: string) =>
    !isPlacementMark(key) && key !== 'kubectl.kubernetes.io/last-applied-configuration';
  if (
    Object.keys({ ...labels, ...annotations }).some(isSaid) ||
    account['automountServiceAccountToken'] !== undefined
  )
    return true;
  return ['imagePullSecrets', 'secrets'].some((field) => listAt(account, field).length > 0);
}

function isKubernetesService(object: KubeObject): boolean {
  return object.metadata.name === 'kubernetes' && object.metadata.namespace === 'default';
}
