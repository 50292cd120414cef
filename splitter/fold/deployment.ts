import { IntOrStringError, scaledIntOrPercent } from '../../kube/int-or-string.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, type FoldInput, observedGeneration, sum, sums, told } from './part.ts';

const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'];

export const foldDeployment: Fold = (input) => {
  const said = foldConditions(input.parts);
  const others = said.filter(({ type }) => type !== 'Available');
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

function maxUnavailable(root: unknown, total: number): number {
  if (at(root, 'spec', 'strategy', 'type') === 'Recreate') return 0;
  const written = at(root, 'spec', 'strategy', 'rollingUpdate', 'maxUnavailable') ?? '25%';
  if (typeof written !== 'number' && typeof written !== 'string') return 0;
  try {
    return scaledIntOrPercent(written, total, 'down');
  } catch (error) {
    if (error instanceof IntOrStringError) return 0;
    throw error;
  }
}
