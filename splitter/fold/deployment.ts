import { fenceposts } from '../../cluster/rolling.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import {
  countOf,
  type Fold,
  type FoldInput,
  type FoldPart,
  observedGeneration,
  sum,
  sums,
  told,
} from './part.ts';

const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'];

export const foldDeployment: Fold = (input) => {
  const said = foldConditions(input.parts);
  const others = [
    ...said.filter(({ type }) => type !== 'Available' && type !== 'Progressing'),
    ...progressing(input),
  ];
  const worst = said.find(({ type }) => type === 'Available') ?? availableBefore(input);
  const conditions = worst ? [available(input, worst), ...others] : others;
  return {
    ...observedGeneration(input),
    ...sums(input.parts, counters),
    ...told(input.parts, ['terminatingReplicas']),
    ...(conditions.length > 0 && { conditions }),
  };
};

/**
 * Whether the whole is available is a matter of the whole: a target that is still joining takes nothing away,
 * two that each have enough of their share have enough together.
 */
function available({ root, parts }: FoldInput, worst: Record<string, unknown>): Record<string, unknown> {
  const total = numberAt(root, 'spec', 'replicas') ?? 1;
  const enough = sum(parts, 'availableReplicas') >= total - maxUnavailable(root, total);
  const status = enough ? 'True' : 'False';
  const before = listAt(root.status, 'conditions').find(isAvailable);
  const told = textAt(worst, 'lastTransitionTime');
  const kept = at(before, 'status') === status ? textAt(before, 'lastTransitionTime') : told;
  const lastTransitionTime = kept ?? told;
  return {
    ...worst,
    status,
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
  };
}

/**
 * Who has no turn is paused for it: that says nothing of the update, whose deadline is of those that go on. While somebody has
 * yet to begin it is not done.
 */
function progressing({ root, parts }: FoldInput): Record<string, unknown>[] {
  const isPaused = at(root, 'spec', 'paused') === true;
  const of = (part: FoldPart) => listAt(part.status, 'conditions').find(isProgressing);
  const going = parts.filter(
    (part) =>
      isPaused ||
      part.silence !== undefined ||
      !(part.share.paused || /^Deployment(Paused|Resumed)$/.test(textAt(of(part), 'reason') ?? '')),
  );
  const told = going.length === 0 ? listAt(root.status, 'conditions') : foldConditions(going);
  const [one] = told.filter(isProgressing) as Record<string, unknown>[];
  const waiting = parts.filter(
    (part) => part.share.paused && countOf(part, 'updatedReplicas') < (part.share.replicas ?? 0),
  );
  if (!one || waiting.length === 0 || one['reason'] !== 'NewReplicaSetAvailable') return one ? [one] : [];
  const message = `${waiting.map(({ cluster }) => cluster).join(', ')}: updated when it is the turn of it`;
  return [{ ...one, reason: 'ReplicaSetUpdated', message }];
}

function isProgressing(condition: unknown): boolean {
  return at(condition, 'type') === 'Progressing';
}

function isAvailable(condition: unknown): boolean {
  return at(condition, 'type') === 'Available';
}

/** What was said once is not taken back by saying nothing. */
function availableBefore({ root }: FoldInput): Record<string, unknown> | undefined {
  const before = listAt(root.status, 'conditions').find(isAvailable);
  const lastTransitionTime = textAt(before, 'lastTransitionTime');
  return before === undefined
    ? undefined
    : { type: 'Available', ...(lastTransitionTime && { lastTransitionTime }) };
}

/** As the deployment controller's MaxUnavailable has it: with neither surge nor unavailability, one. */
function maxUnavailable(root: KubeObject, total: number): number {
  if (at(root, 'spec', 'strategy', 'type') === 'Recreate') return 0;
  return Math.min(total, fenceposts(root.spec, total).maxUnavailable);
}
