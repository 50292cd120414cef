import { textAt } from '../../kube/untyped.ts';
import { type Fold, type FoldPart, observedGeneration, type Status, sum, sums } from './part.ts';

/**
 * Revisions are named by a digest of the template, so clusters that run the same template agree; while they do
 * not, current differs from update, which is what a rollout under way looks like.
 */
export const foldStatefulSet: Fold = (input) => {
  const { parts } = input;
  return {
    ...observedGeneration(input),
    replicas: sum(parts, 'replicas'),
    availableReplicas: sum(parts, 'availableReplicas'),
    ...sums(parts, ['readyReplicas', 'currentReplicas', 'updatedReplicas']),
    ...revisions(parts),
    collisionCount: Math.max(0, ...parts.map((part) => sum([part], 'collisionCount'))),
  };
};

function revisions(parts: readonly FoldPart[]): Status {
  const updated = parts.flatMap((part) => textAt(part.status, 'updateRevision')?.slice(0, 253) ?? []);
  const current = parts.flatMap((part) => textAt(part.status, 'currentRevision')?.slice(0, 253) ?? []);
  const update = updated[0];
  if (update === undefined) return {};
  const behind = current.find((revision) => revision !== update);
  return { currentRevision: behind ?? current[0] ?? update, updateRevision: update };
}
