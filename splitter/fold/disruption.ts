import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, single, sum } from './part.ts';

/** PodDisruptionBudgets. */
export const foldDisruption: Fold = (input) => {
  const { parts } = input;
  const conditions = foldConditions(parts);
  return {
    ...observedGeneration(input),
    disruptionsAllowed: sum(parts, 'disruptionsAllowed'),
    currentHealthy: sum(parts, 'currentHealthy'),
    desiredHealthy: sum(parts, 'desiredHealthy'),
    expectedPods: sum(parts, 'expectedPods'),
    ...single(parts, ['disruptedPods']),
    ...(conditions.length > 0 && { conditions }),
  };
};
