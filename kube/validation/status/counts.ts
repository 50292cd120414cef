import type { JsonObject } from '../../object.ts';
import { int, record } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';
import { nonNegative } from '../rules.ts';

/** Counts that none may be below zero, and pairs of which the first may not be above the second. */
interface Counts {
  of: readonly string[];
  within?: readonly (readonly [few: string, many: string, message: string])[];
  /** Names that another has taken: they are counted up alone. */
  collisions?: boolean;
}

const ofAll = 'cannot be greater than status.replicas';
const ofReady = 'cannot be greater than readyReplicas';
const replicas = [
  ['readyReplicas', 'replicas', ofAll],
  ['availableReplicas', 'replicas', ofAll],
  ['availableReplicas', 'readyReplicas', ofReady],
] as const;
const labelled = [['fullyLabeledReplicas', 'replicas', ofAll], ...replicas] as const;
const labelledOf = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
];

const deployment: Counts = {
  of: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  within: [['updatedReplicas', 'replicas', ofAll], ...replicas],
  collisions: true,
};

const statefulSet: Counts = {
  of: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ],
  within: [
    ['readyReplicas', 'replicas', ofAll],
    ['currentReplicas', 'replicas', ofAll],
    ['updatedReplicas', 'replicas', ofAll],
    ['availableReplicas', 'replicas', ofAll],
    ['availableReplicas', 'readyReplicas', 'cannot be greater than status.readyReplicas'],
  ],
  collisions: true,
};

const daemonSet: Counts = {
  of: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
  collisions: true,
};

function counts(
  status: JsonObject,
  before: JsonObject,
  { of, within = [], collisions }: Counts,
  field: Field,
): void {
  for (const name of of) nonNegative(status[name], field.child(name));
  for (const [few, many, message] of within) {
    if (int(status[few]) > int(status[many])) field.child(few).invalid(int(status[few]), message);
  }
  const [now, old] = [status['collisionCount'], before['collisionCount']];
  if (collisions && typeof old === 'number' && (typeof now !== 'number' || now < old)) {
    field.child('collisionCount').invalid(int(now), 'cannot be decremented');
  }
}

const check =
  (what: Counts): SubresourceCheck =>
  (object, old, root) =>
    counts(record(object.status), record(old.status), what, root.child('status'));

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/ */
export const countStatuses: Readonly<Record<string, SubresourceCheck>> = {
  'apps/Deployment/status': check(deployment),
  'apps/StatefulSet/status': check(statefulSet),
  'apps/DaemonSet/status': check(daemonSet),
  'apps/ReplicaSet/status': check({ of: [...labelledOf, 'terminatingReplicas'], within: labelled }),
  '/ReplicationController/status': check({ of: labelledOf, within: labelled }),
  'autoscaling/HorizontalPodAutoscaler/status': check({ of: ['currentReplicas', 'desiredReplicas'] }),
};
