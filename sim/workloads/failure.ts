import { timestamp } from '../../kube/timestamp.ts';
import type { Workload } from '../types.ts';

const type = 'ReplicaFailure';

interface Failure {
  type: typeof type;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
}

export function failureOf(set: Workload | undefined): Failure | undefined {
  const said = (set?.status?.['conditions'] ?? []) as Failure[];
  return said.find((condition) => condition.type === type && condition.status === 'True');
}

/** The conditions of a ReplicaSet some of whose pods are refused, told of the first of them; null: none are. */
export function failureConditions(set: Workload, refused: Error | undefined, now: number): Failure[] | null {
  if (refused === undefined) return null;
  // The next message names another pod, which would be news for ever.
  const before = failureOf(set);
  if (before) return [before];
  const lastTransitionTime = timestamp(now);
  return [{ type, status: 'True', reason: 'FailedCreate', message: refused.message, lastTransitionTime }];
}

/** What a Deployment says of it, of its present ReplicaSet or else of another. */
export function failureIn(sets: readonly (Workload | undefined)[]) {
  const found = sets.map(failureOf).find((failure) => failure !== undefined);
  return found ? [{ type, status: found.status, reason: found.reason, message: found.message }] : [];
}
