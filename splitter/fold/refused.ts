import { digest } from '../../cluster/digest.ts';
import { kindNamed, type PlacedKindName } from '../../cluster/kinds.ts';
import { isHeldBack, podRefusal } from '../../cluster/pod-admission.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { sortedKeys } from '../../kube/sorted.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { at, listAt, numberAt, record, textAt } from '../../kube/untyped.ts';
import type { Status } from './part.ts';

/** Who counts those that are of the newest template: none is. */
const counters: Partial<Record<PlacedKindName, string>> = {
  Deployment: 'updatedReplicas',
  StatefulSet: 'updatedReplicas',
  DaemonSet: 'updatedNumberScheduled',
};
/** Whose status says that its pods cannot be made; of others Events alone do. */
const failing = new Set<PlacedKindName>(['Deployment', 'ReplicaSet', 'ReplicationController']);

/**
 * The status of a workload whose pods are refused, as Kubernetes' controllers write it when its API server refuses them: what runs
 * of the former template counts, and is none of the newest.
 */
export function withRefusal(root: KubeObject, said: Status | undefined, now: number): Status | undefined {
  const refused = podRefusal(root);
  const kind = kindNamed(root.kind)?.kind;
  if (refused === undefined || !kind) return said;
  const status = isHeldBack(root) && failing.has(kind) ? { ...said, ...noneOf(root, kind) } : said;
  if (!status) return undefined;
  const counter = counters[kind];
  const { [counter ?? '']: _updated, ...others } = status;
  const conditions = listAt(status, 'conditions')
    .filter((one) => at(one, 'type') !== type)
    .map(underWay);
  return {
    ...others,
    ...(kind === 'StatefulSet' && { updateRevision: revisionOf(root) }),
    ...(failing.has(kind) && { conditions: [...conditions, failure(root, refused, now)] }),
  };
}

function noneOf({ metadata, spec }: KubeObject, kind: PlacedKindName): Status {
  const { generation } = metadata;
  const seen = generation === undefined ? {} : { observedGeneration: generation };
  if (kind !== 'Deployment') return { ...seen, replicas: 0 };
  const wanted = numberAt(spec, 'replicas') ?? 1;
  return { ...seen, ...(wanted > 0 && { unavailableReplicas: wanted }) };
}

/** Of the one that it waits for, which no cluster knows. */
function revisionOf({ metadata, spec }: KubeObject): string {
  const template = at(spec, 'template');
  return `${metadata.name ?? ''}-${digest(encodeJson(sortedKeys(record(template))), 10)}`;
}

const type = 'ReplicaFailure';

function failure(root: KubeObject, message: string, now: number): Status {
  const before = listAt(root.status, 'conditions').find((one) => at(one, 'type') === type);
  const since = at(before, 'status') === 'True' ? textAt(before, 'lastTransitionTime') : undefined;
  const lastTransitionTime = since ?? timestamp(new Date(now));
  const said = { type, status: 'True', reason: 'FailedCreate', message, lastTransitionTime };
  if (root.kind !== 'Deployment') return said;
  const isSame = at(before, 'message') === message && since !== undefined;
  const lastUpdateTime = (isSame ? textAt(before, 'lastUpdateTime') : undefined) ?? timestamp(new Date(now));
  return { ...said, lastUpdateTime };
}

/** The former template's update is over, and this one's is not. */
function underWay(condition: unknown): unknown {
  const isOver =
    at(condition, 'type') === 'Progressing' && at(condition, 'reason') === 'NewReplicaSetAvailable';
  return isOver ? { ...(condition as object), reason: 'ReplicaSetUpdated' } : condition;
}
