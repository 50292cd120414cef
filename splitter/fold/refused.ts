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
/** Who has a status where none of its pods is. */
const counted = new Set<PlacedKindName>([...failing, 'StatefulSet']);

/**
 * The status of a workload whose pods are refused, as Kubernetes' controllers write it when its API server refuses them: what runs
 * of the former template counts, and is none of the newest.
 */
export function withRefusal(root: KubeObject, said: Status | undefined, now: number): Status | undefined {
  const refused = podRefusal(root);
  const kind = kindNamed(root.kind)?.kind;
  if (refused === undefined || !kind) return said;
  const status = isHeldBack(root) && counted.has(kind) ? { ...said, ...noneOf(root, kind, now) } : said;
  if (!status) return undefined;
  const failure = condition(root, { type, status: 'True', reason: 'FailedCreate', message: refused }, now);
  const counter = counters[kind];
  const { [counter ?? '']: _updated, ...others } = status;
  const conditions = listAt(status, 'conditions')
    .filter((one) => at(one, 'type') !== type)
    .map(underWay);
  return {
    ...others,
    ...(kind === 'StatefulSet' && { updateRevision: revisionOf(root) }),
    ...(failing.has(kind) && { conditions: [...conditions, failure] }),
  };
}

function noneOf(root: KubeObject, kind: PlacedKindName, now: number): Status {
  const { generation } = root.metadata;
  const seen = generation === undefined ? {} : { observedGeneration: generation };
  if (kind === 'StatefulSet') return { ...seen, replicas: 0, availableReplicas: 0 };
  if (kind !== 'Deployment') return { ...seen, replicas: 0 };
  const wanted = numberAt(root, 'spec', 'replicas') ?? 1;
  if (wanted === 0) return seen;
  const reason = 'MinimumReplicasUnavailable';
  const message = 'Deployment does not have minimum availability.';
  const available = condition(root, { type: 'Available', status: 'False', reason, message }, now);
  return { ...seen, unavailableReplicas: wanted, conditions: [available] };
}

/** Of the one that it waits for, which no cluster knows. */
function revisionOf({ metadata, spec }: KubeObject): string {
  const template = at(spec, 'template');
  return `${metadata.name ?? ''}-${digest(encodeJson(sortedKeys(record(template))), 10)}`;
}

const type = 'ReplicaFailure';

type Said = Record<'type' | 'status' | 'reason' | 'message', string>;

/** Since when it is so, and, of a Deployment, since when for this reason. */
function condition({ kind, status }: KubeObject, said: Said, now: number): Status {
  const before = listAt(status, 'conditions').find((one) => at(one, 'type') === said.type);
  const kept = (field: string, ...same: (keyof Said)[]) =>
    same.every((one) => at(before, one) === said[one]) ? textAt(before, field) : undefined;
  const lastTransitionTime = kept('lastTransitionTime', 'status') ?? timestamp(new Date(now));
  if (kind !== 'Deployment') return { ...said, lastTransitionTime };
  const lastUpdateTime = kept('lastUpdateTime', 'status', 'message') ?? timestamp(new Date(now));
  return { ...said, lastTransitionTime, lastUpdateTime };
}

/** The former template's update is over, and this one's is not. */
function underWay(condition: unknown): unknown {
  const isOver =
    at(condition, 'type') === 'Progressing' && at(condition, 'reason') === 'NewReplicaSetAvailable';
  return isOver ? { ...(condition as object), reason: 'ReplicaSetUpdated' } : condition;
}
