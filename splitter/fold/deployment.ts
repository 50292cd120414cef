import { at, listAt, numberAt, textAt } from '../../cluster/read.ts';
import { IntOrStringError, scaledIntOrPercent } from '../../kube/intorstring.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, type FoldInput, observedGeneration, sum, sums, told } from './part.ts';

const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'];

export const foldDeployment: Fold = (input) => {
  const conditions = foldConditions(input.parts).map((condition) =>
    condition['type'] === 'Available' ? available(input, condition) : condition,
  );
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
  const before = listAt(root.status, 'conditions').find((c) => at(c, 'type') === 'Available');
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
