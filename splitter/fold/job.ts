import { isFinished } from '../../cluster/kinds.ts';
import { at, listAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { earliest, type Fold, type FoldPart, latest, single, sums, told } from './part.ts';

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
    ...(conditions.length > 0 && { conditions }),
  };
};

function has(part: FoldPart, type: string): boolean {
  return listAt(part.status, 'conditions').some((c) => at(c, 'type') === type && at(c, 'status') === 'True');
}
