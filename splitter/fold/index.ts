import { kindNamed, type PlacedKindName } from '../../cluster/kinds.ts';
import { lostStatus } from '../../cluster/lost.ts';
import { tellersOf } from '../../cluster/share.ts';
import type { Silence } from '../../cluster/silence.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isRecord, listAt, numberAt } from '../../kube/untyped.ts';
import type { Shares, Slices } from '../plan.ts';
import { foldAddresses } from './addresses.ts';
import { foldAutoscaler } from './autoscaler.ts';
import { foldClaim } from './claim.ts';
import { foldCronJob } from './cronjob.ts';
import { foldDaemonSet } from './daemonset.ts';
import { foldDeployment } from './deployment.ts';
import { foldDisruption } from './disruption.ts';
import { foldJob } from './job.ts';
import { withinSurge } from './leavers.ts';
import type { Fold, FoldInput, FoldPart, Status } from './part.ts';
import { withRefusal } from './refused.ts';
import { foldReplicaSet } from './replicaset.ts';
import { foldRuled } from './ruled.ts';
import { clustersHeard, unheard } from './silent.ts';
import { foldStatefulSet } from './statefulset.ts';

const folds: Record<PlacedKindName, Fold> = {
  Deployment: foldDeployment,
  StatefulSet: foldStatefulSet,
  DaemonSet: foldDaemonSet,
  ReplicaSet: foldReplicaSet,
  ReplicationController: foldReplicaSet,
  Pod: foldPod,
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
  // What is used of it is counted where it is: controller/quota/.
  ResourceQuota: () => undefined,
  HorizontalPodAutoscaler: foldAutoscaler,
  PodDisruptionBudget: foldDisruption,
  Counted: foldRuled,
  Full: foldRuled,
};

/** What one cluster says of one object may not be longer, as JSON. */
const statusLimit = 256 * 1024;

/** Their status is about pods that some controller keeps: where none is left, it says so. */
const emptied = new Set<PlacedKindName>([
  ...(['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController'] as const),
  'PodDisruptionBudget',
  'Counted',
]);

/** Whose status has conditions of any type. */
const conditioned = new Set<PlacedKindName>([
  ...(['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController'] as const),
  'Job',
]);

/**
 * The root's status, as if one cluster ran it all. What leaves counts while it is there, as far as a surge would;
 * what is not heard of does not. Undefined: nothing is known, leave the root's status as it is.
 */
export function foldStatus(
  root: KubeObject,
  shares: Shares,
  slices: Slices,
  silenceOf: (cluster: string) => Silence | undefined = () => undefined,
  now = Date.now(),
): Status | undefined {
  return withRefusal(root, folded(root, { shares, slices, silenceOf, now }), now);
}

interface Scene {
  shares: Shares;
  slices: Slices;
  silenceOf: (cluster: string) => Silence | undefined;
  now: number;
}

function folded(root: KubeObject, { shares, slices, silenceOf, now }: Scene): Status | undefined {
  const byName = Object.entries(shares).sort(([a], [b]) => (a < b ? -1 : 1));
  const all = byName.flatMap(([cluster, share]): FoldPart[] => {
    const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
    if (share.phase === 'Leaving' && slice?.present !== true) return [];
    const said = slice?.present === true && isRecord(slice.status) ? slice.status : {};
    const silence = silenceOf(cluster);
    return [{ cluster, share, slice, silence, status: unheard({ status: said, share, silence }) }];
  });
  const kind = kindNamed(root.kind)?.kind;
  if (!kind) return undefined;
  const isSaid = all.some((part) => part.slice?.present === true && part.slice.status !== undefined);
  const silences = conditioned.has(kind) ? clustersHeard(all.flatMap(({ silence }) => silence ?? [])) : [];
  // Where it once had a status it ran: what nobody speaks of any more is not there.
  const had = isRecord(root.status) && Object.keys(root.status).length > 0;
  if (!isSaid && silences.length === 0 && !(had && emptied.has(kind))) return undefined;
  const status = folds[kind]({ root, parts: withinSurge(root, all), now });
  if (!status || silences.length === 0) return status;
  return { ...status, conditions: [...listAt(status, 'conditions'), ...silences] };
}

/** A Pod of its own is on one cluster, but while it moves: one that is heard of speaks first. */
function foldPod({ root, parts, now }: FoldInput): Status | undefined {
  const heard = parts.filter((part) => !part.silence);
  const status = passThrough({ root, parts: heard, now });
  if (status) return status;
  const last = passThrough({ root, parts, now });
  const [silent] = parts.filter((part) => Object.keys(part.status).length > 0);
  return last && silent?.silence ? lostStatus(last, silent.silence) : last;
}

/** Other kinds: one target's word stands; of several, that of the first who is believed. */
function passThrough({ root, parts }: FoldInput): Status | undefined {
  const speaking = parts.filter((part) => Object.keys(part.status).length > 0);
  const [first] = tellersOf(Object.fromEntries(speaking.map(({ cluster, share }) => [cluster, share])));
  const chosen = speaking.find(({ cluster }) => cluster === first);
  if (!chosen || encodeJson(chosen.status).length > statusLimit) return undefined;
  const physical = numberAt(chosen.status, 'observedGeneration');
  const { generation } = root.metadata;
  if (physical === undefined || generation === undefined) return chosen.status;
  const observed = Math.min(generation, chosen.slice?.observedGeneration ?? 0);
  return { ...chosen.status, observedGeneration: observed };
}
