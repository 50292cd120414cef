import { kindNamed, type PlacedKindName } from '../../cluster/kinds.ts';
import { isHeldBack, podRefusal } from '../../cluster/pod-admission.ts';
import { makesNone } from '../../cluster/pod-spec.ts';
import { templateHash } from '../../cluster/refused-revision.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';
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
  // Where there is nothing to make, nothing fails.
  if (!status || makesNone(root)) return status;
  const failure = condition(root, { type, status: 'True', reason: 'FailedCreate', message: refused }, now);
  const counter = counters[kind];
  const { [counter ?? '']: _updated, ...counts } = status;
  const others = listAt(status, 'conditions').filter((one) => at(one, 'type') !== type);
  const conditions = kind === 'Deployment' ? withProgress(root, others, failure, now) : others;
  return {
    ...counts,
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
  const available = condition(root, { type: 'Available', ...(wanted === 0 ? enough : tooFew) }, now);
  if (wanted > 0) return { ...seen, unavailableReplicas: wanted, conditions: [available] };
  const message = `ReplicaSet ${JSON.stringify(revisionOf(root))} has successfully progressed.`;
  const done = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message };
  return { ...seen, conditions: [available, condition(root, done, now)] };
}

const enough = {
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
};
const tooFew = {
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};

/** Of the one that it waits for, which no cluster knows. */
function revisionOf({ metadata, spec }: KubeObject): string {
  return `${metadata.name ?? ''}-${templateHash(at(spec, 'template'))}`;
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

/**
 * The former template's update is over, and this one's is not: it has its deadline from when its pods were refused first.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment
 */
function withProgress(root: KubeObject, conditions: readonly unknown[], failure: Status, now: number) {
  const others = conditions.filter((one) => at(one, 'type') !== 'Progressing');
  const deadline = deadlineOf(root, failure);
  if (deadline === undefined) return conditions.map(underWay);
  const who = `Deployment ${JSON.stringify(root.metadata.name ?? '')}`;
  const said =
    now >= deadline
      ? { status: 'False', reason: 'ProgressDeadlineExceeded', message: `${who} has timed out progressing.` }
      : { status: 'True', reason: 'ReplicaSetUpdated', message: `${who} is progressing.` };
  return [...others, condition(root, { type: 'Progressing', ...said }, now)];
}

function underWay(condition: unknown): unknown {
  const isOver =
    at(condition, 'type') === 'Progressing' && at(condition, 'reason') === 'NewReplicaSetAvailable';
  return isOver ? { ...(condition as object), reason: 'ReplicaSetUpdated' } : condition;
}

/** Milliseconds since 1970; undefined: it has none, as while it is paused. */
function deadlineOf({ spec }: KubeObject, failure: unknown): number | undefined {
  const seconds = numberAt(spec, 'progressDeadlineSeconds') ?? 600;
  if (at(spec, 'paused') === true || seconds >= 2 ** 31 - 1) return undefined;
  return (Date.parse(textAt(failure, 'lastTransitionTime') ?? '') || 0) + seconds * 1000;
}

/** In how many milliseconds it is too late for a Deployment whose pods are refused; undefined: it is, or nothing is refused. */
export function lateAfter(root: KubeObject, status: Status | undefined, now: number): number | undefined {
  if (kindNamed(root.kind)?.kind !== 'Deployment' || podRefusal(root) === undefined) return undefined;
  const failure = listAt(status, 'conditions').find((one) => at(one, 'type') === type);
  const deadline = failure === undefined ? undefined : deadlineOf(root, failure);
  return deadline !== undefined && deadline > now ? deadline - now : undefined;
}
