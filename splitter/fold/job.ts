import { isFinished } from '../../cluster/kinds.ts';
import { at, isRecord, listAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { earliest, type Fold, type FoldPart, latest, type Status, single, sums, told } from './part.ts';

/** What a finished Job said last stays: its parts may be gone by now. */
export const foldJob: Fold = ({ root, parts }) => {
  if (isFinished(root)) return undefined;
  const speaking = parts.filter((part) => part.slice !== undefined);
  const complete = parts.length > 0 && parts.every((part) => has(part, 'Complete'));
  const ending = ['Complete', 'SuccessCriteriaMet'];
  const conditions = foldConditions(parts).filter((c) => complete || !ending.includes(String(c['type'])));
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

/** Pods are counted there. Which of them are still to be, their uids on that cluster tell, and not here. */
function uncounted(parts: readonly FoldPart[]): Status {
  const counting = parts.some(({ status }) => isRecord(at(status, 'uncountedTerminatedPods')));
  return counting ? { uncountedTerminatedPods: {} } : {};
}

function has(part: FoldPart, type: string): boolean {
  return listAt(part.status, 'conditions').some((c) => at(c, 'type') === type && at(c, 'status') === 'True');
}
