import { foldConditions } from './conditions.ts';
import { type Fold, latest, observedGeneration, single, sum } from './part.ts';

export const foldAutoscaler: Fold = (input) => {
  const { parts } = input;
  return {
    ...observedGeneration(input),
    ...latest(parts, 'lastScaleTime'),
    currentReplicas: sum(parts, 'currentReplicas'),
    desiredReplicas: sum(parts, 'desiredReplicas'),
    ...single(parts, ['currentMetrics']),
    conditions: foldConditions(parts),
  };
};
