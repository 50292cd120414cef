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
  sum,
  sums,
  told,
} from './part.ts';

/** What a finished Job said last stays: its parts may be gone by now. */
export const foldJob: Fold = ({ root, parts }) => {
  if (isFinished(root)) return undefined;
  const speaking = parts.filter((part) => part.slice !== undefined);
  const complete = parts.length > 0 && parts.every((part) => has(part, 'Complete'));
  const lacking = complete ? lackingOf(root, parts) : 0;
  const isShort = lacking > 0;
  const said = complete ? foldConditions(parts) : going(root, parts);
  const conditions = isShort ? incomplete(root, parts, lacking) : said;
  return {
    ...sums(speaking, ['active', 'failed']),
    ...succeeded(speaking, parts),
    ...told(speaking, ['ready', 'terminating']),
    ...earliest(speaking, 'startTime'),
    ...(complete && !isShort && latest(speaking, 'completionTime')),
    ...single(parts, ['completedIndexes', 'failedIndexes']),
    ...uncounted(speaking),
    ...(conditions.length > 0 && { conditions }),
  };
};

/** How many of its completions are on no cluster: nobody will ever say that they came. */
function lackingOf(root: KubeObject, parts: readonly FoldPart[]): number {
  const total = numberAt(root, 'spec', 'completions') ?? 0;
  return (
    parts.reduce((rest, { share: { completions = total } }) => rest - completions, total) - cameOf(parts)
  );
}

/** On clusters that were given up. */
function cameOf(parts: readonly FoldPart[]): number {
  return parts.reduce((all, { share: { came = 0 } }) => all + came, 0);
}

function succeeded(speaking: readonly FoldPart[], parts: readonly FoldPart[]): Status {
  const all = sum(speaking, 'succeeded') + cameOf(parts);
  return all === 0 ? {} : { succeeded: all };
}

function incomplete(root: KubeObject, parts: readonly FoldPart[], lacking: number): Status[] {
  const said = `${lacking} of its ${numberAt(root, 'spec', 'completions')} completions`;
  const message = `${said} went with a cluster that was given up`;
  const { completionTime: since } = latest(parts, 'completionTime');
  const times = since !== undefined && { lastProbeTime: since, lastTransitionTime: since };
  return [{ type: 'Failed', status: 'True', reason: 'ClusterForgotten', message, ...times }];
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
