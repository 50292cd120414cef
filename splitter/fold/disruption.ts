import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, single, sum } from './part.ts';

/** PodDisruptionBudgets. A cluster that runs none of the pods wants none of them healthy. */
export const foldDisruption: Fold = (input) => {
  const holding = input.parts.filter(({ status }) => status['expectedPods'] !== 0);
  const parts = holding.length > 0 ? holding : input.parts;
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
