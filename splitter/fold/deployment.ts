import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, sums } from './part.ts';

const counters = [
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
];

export const foldDeployment: Fold = (input) => {
  const conditions = foldConditions(input.parts);
  return {
    ...observedGeneration(input),
    ...sums(input.parts, counters),
    ...(conditions.length > 0 && { conditions }),
  };
};
