import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, numberAt } from '../kube/untyped.ts';
import { kindNamed, type PlacedKindName } from './kinds.ts';
import { withdrawnLabel } from './names.ts';
import { withoutPodAssignment } from './pod-spec.ts';
import { podAmounts } from './quota.ts';
import { inTurn, toldToRoll, withOrdinals, withStrategy } from './rolling.ts';
import type { Share } from './types.ts';

type Spec = Record<string, unknown>;

const jobLabels = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
];

const asItIs = (spec: Spec): Spec => spec;

/** The part of each kind's spec that a share stands for, without what each cluster decides for itself. */
const specs: Record<PlacedKindName, (spec: Spec, share: Share) => Spec> = {
  Deployment: (spec, share) => toldToRoll(withStrategy(withReplicas(spec, share), share)),
  StatefulSet: (spec, share) =>
    inTurn(withOrdinals(withReplicas(withRetention(spec, share), share), share), share),
  DaemonSet: asItIs,
  ReplicaSet: withReplicas,
  ReplicationController: withReplicas,
  Pod: (spec) => withoutPodAssignment(spec) as Spec,
  Job: jobSpec,
  CronJob: (spec, share) => (share.suspend === true ? { ...spec, suspend: true } : spec),
  ConfigMap: asItIs,
  Secret: asItIs,
  ServiceAccount: asItIs,
  PersistentVolumeClaim: (spec) => without(spec, ['volumeName']),
  Service: serviceSpec,
  Endpoints: asItIs,
  EndpointSlice: asItIs,
  Ingress: asItIs,
  NetworkPolicy: asItIs,
  LimitRange: asItIs,
  ResourceQuota: withAmounts,
  HorizontalPodAutoscaler: withBounds,
  PodDisruptionBudget: withDisruptions,
  // Their manifest is not made of what deciders see: ruled-shape.ts.
  Counted: asItIs,
  Full: asItIs,
};

export function specFor(root: KubeObject, spec: Spec, share: Share): Spec {
  const kind = kindNamed(root.kind);
  return kind ? specs[kind.kind](spec, share) : spec;
}

const retention = ['persistentVolumeClaimRetentionPolicy'];

/**
 * Claims go when a user deletes their set, or scales it down, not when it is moved: where it is deleted is for the syncer
 * to tell, and where it has a part of the replicas these go up and down by themselves.
 */
function withRetention(spec: Spec, { replicas }: Share): Spec {
  const policy = at(spec, ...retention);
  if (!isRecord(policy)) return spec;
  const isWhole = replicas === undefined || replicas === (numberAt(spec, 'replicas') ?? 1);
  const kept = { ...policy, whenDeleted: 'Retain', ...(!isWhole && { whenScaled: 'Retain' }) };
  return { ...spec, persistentVolumeClaimRetentionPolicy: kept };
}

function withReplicas(spec: Spec, { replicas }: Share): Spec {
  return replicas === undefined ? spec : { ...spec, replicas };
}

/** A minimum of 0 is the user's own wish to scale to nothing; a part that is 0 is not. */
function withBounds(all: Spec, { replicas, maxReplicas, suspend }: Share): Spec {
  const spec = suspend === true ? { ...all, behavior: still(at(all, 'behavior')) } : all;
  if (replicas === undefined) return spec;
  const minReplicas = Math.max(numberAt(spec, 'minReplicas') === 0 ? 0 : 1, replicas);
  const most = maxReplicas ?? numberAt(spec, 'maxReplicas') ?? 1;
  return { ...spec, minReplicas, maxReplicas: Math.max(1, minReplicas, most) };
}

/** It leaves its target as it finds it, within its bounds. */
function still(behavior: unknown): Spec {
  const rules = (way: string) => ({ ...(at(behavior, way) as Spec | undefined), selectPolicy: 'Disabled' });
  return { scaleUp: rules('scaleUp'), scaleDown: rules('scaleDown') };
}

/** One of the two stands in a budget; a part of the other is of what it said before. */
function withDisruptions(spec: Spec, { minAvailable, maxUnavailable }: Share): Spec {
  return {
    ...spec,
    ...('minAvailable' in spec && minAvailable !== undefined && { minAvailable }),
    ...('maxUnavailable' in spec && maxUnavailable !== undefined && { maxUnavailable }),
  };
}

/** What objects use is charged where they are written; pods are made there. */
function withAmounts(spec: Spec, { hard }: Share): Spec {
  return { ...spec, hard: hard ?? podAmounts(spec) };
}

const isManualJob = (spec: unknown): boolean => at(spec, 'manualSelector') === true;

/** Of a Job those that its controller gives it are each cluster's own. */
export function labelsThere({ kind, spec, metadata: { labels } }: KubeObject): Record<string, string> {
  return kind === 'Job' && !isManualJob(spec) ? without(labels, jobLabels) : { ...labels };
}

/** When it goes is decided here: one that went by itself there would be made, and run, again. */
function jobSpec(spec: Spec, { completions, parallelism, suspend }: Share): Spec {
  const shaped: Spec = {
    ...without(spec, ['ttlSecondsAfterFinished']),
    ...(completions !== undefined && { completions }),
    ...(parallelism !== undefined && { parallelism }),
    ...(suspend === true && { suspend }),
  };
  if (isManualJob(spec)) return shaped;
  delete shaped['selector'];
  const template = at(shaped, 'template');
  const metadata = at(template, 'metadata');
  if (isRecord(template) && isRecord(metadata) && isRecord(metadata['labels'])) {
    const labels = without(metadata['labels'], jobLabels);
    shaped['template'] = { ...template, metadata: { ...metadata, labels } };
  }
  return shaped;
}

/**
 * Addresses that a cluster hands out are its own, ports see withPortsThere; "None" is the user's wish. One that is withdrawn selects no
 * pod any more: the cluster's own controller empties its slices. A headless one does: its name leads to pods themselves,
 * and there is nobody who would fall back to those that are about to go.
 */
function serviceSpec(all: Spec, { withdrawn }: Share): Spec {
  const selector = at(all, 'selector');
  const headless = all['clusterIP'] === 'None';
  const selects = isRecord(selector) && Object.keys(selector).length > 0;
  const spec =
    withdrawn === true && selects && !headless
      ? { ...all, selector: { ...selector, [withdrawnLabel]: 'true' } }
      : all;
  return headless ? spec : without(spec, ['clusterIP', 'clusterIPs']);
}

export function without<T>(
  object: Record<string, T> | undefined,
  keys: readonly string[],
): Record<string, T> {
  return Object.fromEntries(Object.entries(object ?? {}).filter(([key]) => !keys.includes(key)));
}
