import { at, listAt, textAt } from '../kube/untyped.ts';
import { isFinished } from './kinds.ts';
import type { Silence } from './silence.ts';

type Status = Record<string, unknown>;

/** Of a pod's status; kubectl shows it as the pod's STATUS. */
const lostReason = 'Unknown';
const readiness = new Set(['Ready', 'ContainersReady']);

/**
 * A pod's status when nothing is heard of where it runs: not ready, as Kubernetes makes the pods of a node that it
 * does not hear of, and its phase as it was last known. What has ended stays as it ended.
 */
export function lostStatus(status: Status, { since, words }: Silence): Status {
  if (isFinished({ kind: 'Pod', status })) return status;
  const conditions = listAt(status, 'conditions').map((condition) => {
    if (!readiness.has(textAt(condition, 'type') ?? '') || at(condition, 'status') !== 'True')
      return condition;
    return {
      ...(condition as Status),
      status: 'False',
      reason: 'NodeStatusUnknown',
      message: words,
      ...(since !== '' && { lastTransitionTime: since }),
    };
  });
  const containers = listAt(status, 'containerStatuses').map((one) => ({
    ...(one as Status),
    ready: false,
  }));
  return {
    ...status,
    ...(conditions.length > 0 && { conditions }),
    ...(containers.length > 0 && { containerStatuses: containers }),
    reason: lostReason,
    message: words,
  };
}

export function isLost(pod: { status?: unknown }): boolean {
  return textAt(pod, 'status', 'reason') === lostReason;
}
