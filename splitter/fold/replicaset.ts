import { foldConditions } from './conditions.ts';
import { type Fold, observedGeneration, sum, sums, told } from './part.ts';

const counters = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

/** ReplicaSets and ReplicationControllers. */
export const foldReplicaSet: Fold = (input) => {
  const conditions = foldConditions(input.parts);
  return {
    ...observedGeneration(input),
    replicas: sum(input.parts, 'replicas'),
    ...sums(input.parts, counters),
    ...told(input.parts, ['terminatingReplicas']),
    ...(conditions.length > 0 && { conditions }),
  };
};
