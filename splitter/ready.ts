import { kindNamed, type PlacedKindName } from '../cluster/kinds.ts';
import { isChanged, isRefused } from '../cluster/refusal.ts';
import type { ClusterSlice, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, listAt, numberAt, textAt } from '../kube/untyped.ts';
import { isRuledServing } from './ready-ruled.ts';

/**
 * Whether a share is in place: applied as it now stands, observed by the physical controller, and doing what
 * its kind is for. What invariant 1 waits for. `others` are the slices of the clusters beside it: a load
 * balancer's address that none of them has either is not waited for, since leaving loses nothing. `counted`: of its
 * replicas no more need be there.
 */
export function isReady(
  root: KubeObject,
  share: Share,
  slice: ClusterSlice | undefined,
  others: readonly ClusterSlice[] = [],
  counted: number | undefined = share.replicas,
): boolean {
  if (!slice || isRefused(slice)) return false;
  if (!slice.present) return isLeftToOwner(root, slice);
  if (hasOtherPorts(root, slice, others)) return false;
  const { generation } = root.metadata;
  if (generation !== undefined && (slice.observedGeneration ?? 0) < generation) return false;
  if (!isApplied(share, slice)) return false;
  const asked = counted === undefined ? share : { ...share, replicas: counted };
  return isServingNow(root, asked, slice, others);
}

/** The node ports that a Service's user asked for are not free there, and are given elsewhere: nobody leaves them for others. */
function hasOtherPorts(root: KubeObject, slice: ClusterSlice, others: readonly ClusterSlice[]): boolean {
  if (root.kind !== 'Service' || !isChanged(slice)) return false;
  return others.some((other) => other.present && other.error === undefined);
}

/** A Deployment there has adopted this ReplicaSet: how many there are, and whether there is one, is that one's business. */
export function isLeftToOwner(root: KubeObject, slice: ClusterSlice | undefined): boolean {
  return root.kind === 'ReplicaSet' && slice?.owner !== undefined;
}

/** As isReady, whatever was applied last. */
export function isServingNow(
  root: KubeObject,
  share: Share,
  slice: ClusterSlice,
  others: readonly ClusterSlice[] = [],
): boolean {
  if (isLeftToOwner(root, slice) || isServing(root, share, slice.status)) return true;
  return (
    root.kind === 'Service' && !others.some((other) => other.present && isServing(root, share, other.status))
  );
}

/** The syncer has applied exactly these numbers; replicas that an autoscaler owns have been set as often as told. */
export function isApplied(share: Share, slice: ClusterSlice | undefined): boolean {
  const said = slice?.share ?? {};
  return (
    said.scaled === share.scaled &&
    (share.scaled !== undefined || said.replicas === share.replicas) &&
    said.completions === share.completions &&
    said.parallelism === share.parallelism &&
    said.ordinalsStart === share.ordinalsStart &&
    (said.suspend ?? false) === (share.suspend ?? false)
  );
}

/** Replicas that a cluster says it can count on now, never more than its share. */
export function availableOf(share: Share, slice: ClusterSlice | undefined): number {
  if (slice?.present !== true) return 0;
  const status = slice.status;
  const said = numberAt(status, 'availableReplicas') ?? numberAt(status, 'readyReplicas');
  const whole = share.replicas ?? 1;
  if (said !== undefined) return Math.max(0, Math.min(whole, Math.trunc(said)));
  return share.replicas === undefined ? 1 : 0;
}

interface Asked {
  root: KubeObject;
  /** Replicas of the share. */
  wanted: number;
  /** It has no turn to be updated: to wait for that could be to wait for each other. */
  isWaiting: boolean;
  status: unknown;
}

const applied = () => true;
const said = (status: unknown, field: string) => numberAt(status, field) ?? 0;
const isAvailable = ({ wanted, status }: Asked) =>
  isRecord(status) && said(status, 'availableReplicas') >= wanted;

/** What each kind is for, as its status says it; `applied`: to be there is all. */
const serving: Record<PlacedKindName, (asked: Asked) => boolean> = {
  Deployment: (asked) =>
    isAvailable(asked) && (asked.isWaiting || said(asked.status, 'updatedReplicas') >= asked.wanted),
  StatefulSet: (asked) => isRecord(asked.status) && isStatefulSetServing(asked, asked.status),
  DaemonSet: ({ status }) => isDaemonSetServing(status),
  ReplicaSet: isAvailable,
  ReplicationController: isAvailable,
  Pod: ({ status }) => isTrue(status, 'Ready'),
  Job: applied,
  CronJob: applied,
  ConfigMap: applied,
  Secret: applied,
  ServiceAccount: applied,
  PersistentVolumeClaim: ({ status }) => textAt(status, 'phase') === 'Bound',
  Service: ({ root, status }) =>
    at(root, 'spec', 'type') !== 'LoadBalancer' || listAt(status, 'loadBalancer', 'ingress').length > 0,
  Endpoints: applied,
  EndpointSlice: applied,
  Ingress: applied,
  NetworkPolicy: applied,
  LimitRange: applied,
  ResourceQuota: applied,
  HorizontalPodAutoscaler: applied,
  PodDisruptionBudget: applied,
  Counted: ({ root, wanted, status }) => isRuledServing(root, wanted, status),
  Full: ({ root, wanted, status }) => isRuledServing(root, wanted, status),
};

function isServing(root: KubeObject, share: Share, status: unknown): boolean {
  const wanted = share.replicas ?? numberAt(root, 'spec', 'replicas') ?? 1;
  const kind = kindNamed(root.kind);
  return !kind || serving[kind.kind]({ root, wanted, isWaiting: share.paused === true, status });
}

/** With OnDelete, below a partition, or without a turn, old revisions stay on purpose: only their number counts. */
function isStatefulSetServing({ root, wanted, isWaiting }: Asked, status: object): boolean {
  const available = numberAt(status, 'availableReplicas') ?? numberAt(status, 'readyReplicas') ?? 0;
  if (available < wanted) return false;
  const onDelete = at(root, 'spec', 'updateStrategy', 'type') === 'OnDelete';
  const partition = numberAt(root, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  if (onDelete || partition > 0 || isWaiting) return true;
  return at(status, 'currentRevision') === at(status, 'updateRevision');
}

function isDaemonSetServing(status: unknown): boolean {
  const desired = numberAt(status, 'desiredNumberScheduled');
  if (desired === undefined) return false;
  const counted = ['numberAvailable', 'updatedNumberScheduled'];
  return counted.every((field) => (numberAt(status, field) ?? 0) >= desired);
}

function isTrue(status: unknown, type: string): boolean {
  return listAt(status, 'conditions').some((c) => at(c, 'type') === type && at(c, 'status') === 'True');
}
