import { kindNamed, type PlacedKindName } from '../../cluster/kinds.ts';
import { numberAt } from '../../cluster/read.ts';
import { isObject } from '../../kube/deep.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Shares, Slices } from '../plan.ts';
import { foldAddresses } from './addresses.ts';
import { foldAutoscaler } from './autoscaler.ts';
import { foldClaim } from './claim.ts';
import { foldCronJob } from './cronjob.ts';
import { foldDaemonSet } from './daemonset.ts';
import { foldDeployment } from './deployment.ts';
import { foldDisruption } from './disruption.ts';
import { foldJob } from './job.ts';
import type { Fold, FoldInput, FoldPart, Status } from './part.ts';
import { foldReplicaSet } from './replicaset.ts';
import { foldStatefulSet } from './statefulset.ts';

const folds: Record<PlacedKindName, Fold> = {
  Deployment: foldDeployment,
  StatefulSet: foldStatefulSet,
  DaemonSet: foldDaemonSet,
  ReplicaSet: foldReplicaSet,
  ReplicationController: foldReplicaSet,
  Pod: passThrough,
  Job: foldJob,
  CronJob: foldCronJob,
  ConfigMap: passThrough,
  Secret: passThrough,
  ServiceAccount: passThrough,
  PersistentVolumeClaim: foldClaim,
  Service: foldAddresses,
  Endpoints: passThrough,
  EndpointSlice: passThrough,
  Ingress: foldAddresses,
  NetworkPolicy: passThrough,
  LimitRange: passThrough,
  HorizontalPodAutoscaler: foldAutoscaler,
  PodDisruptionBudget: foldDisruption,
};

/** What one cluster says of one object may not be longer, as JSON. */
const statusLimit = 256 * 1024;

/**
 * The root's status, as if one cluster ran it all. What leaves counts while it is there. Undefined: nothing is
 * known, leave the root's status as it is.
 */
export function foldStatus(root: KubeObject, shares: Shares, slices: Slices): Status | undefined {
  const byName = Object.entries(shares).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = byName.flatMap(([cluster, share]): FoldPart[] => {
    const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
    if (share.phase === 'Leaving' && slice?.present !== true) return [];
    const status = slice?.present === true && isObject(slice.status) ? slice.status : {};
    return [{ cluster, share, slice, status }];
  });
  if (!parts.some((part) => part.slice?.present === true && part.slice.status !== undefined))
    return undefined;
  const kind = kindNamed(root.kind);
  return kind && folds[kind.kind]({ root, parts });
}

/** Other kinds: one target's word stands; of several, that of the first by name. */
function passThrough({ root, parts }: FoldInput): Status | undefined {
  const speaking = parts.filter((part) => Object.keys(part.status).length > 0);
  const chosen = speaking.find((part) => part.share.phase === 'Active') ?? speaking[0];
  if (!chosen || encodeJson(chosen.status).length > statusLimit) return undefined;
  const physical = numberAt(chosen.status, 'observedGeneration');
  const { generation } = root.metadata;
  if (physical === undefined || generation === undefined) return chosen.status;
  const observed = Math.min(generation, chosen.slice?.observedGeneration ?? 0);
  return { ...chosen.status, observedGeneration: observed };
}
