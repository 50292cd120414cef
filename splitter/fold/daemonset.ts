import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, sum, sums } from './part.ts';

export const foldDaemonSet: Fold = (input) => {
  const { parts } = input;
  const conditions = foldConditions(parts);
  return {
    ...observedGeneration(input),
    currentNumberScheduled: sum(parts, 'currentNumberScheduled'),
    desiredNumberScheduled: sum(parts, 'desiredNumberScheduled'),
    numberMisscheduled: sum(parts, 'numberMisscheduled'),
    numberReady: sum(parts, 'numberReady'),
    ...sums(parts, ['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable']),
    ...(conditions.length > 0 && { conditions }),
  };
};
