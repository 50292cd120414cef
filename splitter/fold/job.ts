import { isFinished } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, isRecord, listAt, numberAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import {
  countOf,
  earliest,
  type Fold,
  type FoldPart,
  latest,
  type Status,
  single,
  sums,
  told,
} from './part.ts';

/** What a finished Job said last stays: its parts may be gone by now. */
export const foldJob: Fold = ({ root, parts }) => {
  if (isFinished(root)) return undefined;
  const speaking = parts.filter((part) => part.slice !== undefined);
  const complete = parts.length > 0 && parts.every((part) => has(part, 'Complete'));
  const conditions = complete ? ended(root, parts) : going(root, parts);
  return {
    ...sums(speaking, ['active', 'succeeded', 'failed']),
    ...told(speaking, ['ready', 'terminating']),
    ...earliest(speaking, 'startTime'),
    ...(complete && latest(speaking, 'completionTime')),
    ...single(parts, ['completedIndexes', 'failedIndexes']),
    ...uncounted(speaking),
    ...(conditions.length > 0 && { conditions }),
  };
};

/** Complete, if all of it was there to become so. */
function ended(root: KubeObject, parts: readonly FoldPart[]): Status[] {
  const total = numberAt(root, 'spec', 'completions') ?? 0;
  const lacking = parts.reduce((rest, { share: { completions = total } }) => rest - completions, total);
  if (lacking <= 0) return foldConditions(parts);
  const { completionTime: lastTransitionTime } = latest(parts, 'completionTime');
  const message = `${lacking} of its ${total} completions went with a cluster that was given up`;
  const said = {
    reason: 'ClusterForgotten',
    message,
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
  };
  return [{ type: 'Failed', status: 'True', ...said }];
}

/** It has not failed, though a part has, while pods of another run. That one is suspended for it, which is nobody's wish. */
function going(root: KubeObject, parts: readonly FoldPart[]): Status[] {
  const untold = ['Complete', 'SuccessCriteriaMet'];
  if (!parts.every(isOver)) untold.push('Failed');
  if (at(root, 'spec', 'suspend') !== true && parts.some(({ share }) => share.suspend))
    untold.push('Suspended');
  return foldConditions(parts).filter((c) => !untold.includes(String(c['type'])));
}

/** None of its pods runs, nor will. */
function isOver(part: FoldPart): boolean {
  if (isFinished({ kind: 'Job', status: part.status })) return true;
  const isTold = part.share.suspend === true && part.slice?.share?.suspend === true && !part.silence;
  return isTold && has(part, 'Suspended') && countOf(part, 'active') + countOf(part, 'terminating') === 0;
}

/** Pods are counted there. Which of them are still to be, their uids on that cluster tell, and not here. */
function uncounted(parts: readonly FoldPart[]): Status {
  const counting = parts.some(({ status }) => isRecord(at(status, 'uncountedTerminatedPods')));
  return counting ? { uncountedTerminatedPods: {} } : {};
}

function has(part: FoldPart, type: string): boolean {
  return listAt(part.status, 'conditions').some((c) => at(c, 'type') === type && at(c, 'status') === 'True');
}
