import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, sum, sums } from './part.ts';

const counters = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'terminatingReplicas'];

/** ReplicaSets and ReplicationControllers. */
export const foldReplicaSet: Fold = (input) => {
  const conditions = foldConditions(input.parts);
  return {
    ...observedGeneration(input),
    replicas: sum(input.parts, 'replicas'),
    ...sums(input.parts, counters),
    ...(conditions.length > 0 && { conditions }),
  };
};
