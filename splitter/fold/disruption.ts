import { mapAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, type FoldInput, observedGeneration, type Status, sum } from './part.ts';

/** For so long the disruption controller waits for the end of a pod that was to be evicted. */
const evictedMs = 120_000;

/** As the clusters say, and as somebody has noted here, as an eviction does, for as long as a cluster would heed it. */
function disrupted({ root, parts, now }: FoldInput): Status {
  const noted = Object.entries(mapAt(root, 'status', 'disruptedPods') ?? {});
  const recent = noted.filter(([, since]) => Date.parse(since) > now - evictedMs);
  const said = parts.flatMap(({ status }) => Object.entries(mapAt(status, 'disruptedPods') ?? {}));
  const all = Object.fromEntries([...recent, ...said]);
  return Object.keys(all).length > 0 ? { disruptedPods: all } : {};
}

/** PodDisruptionBudgets. A cluster that runs none of the pods wants none of them healthy. */
export const foldDisruption: Fold = (input) => {
  const holding = input.parts.filter(({ status }) => status['expectedPods'] !== 0);
  const parts = holding.length > 0 ? holding : input.parts;
  const observed = observedGeneration(input);
  // Each says of which generation it is, as those of its controller do.
  const conditions = foldConditions(parts).map((one) => ({ ...one, ...observed }));
  return {
    ...observed,
    disruptionsAllowed: sum(parts, 'disruptionsAllowed'),
    currentHealthy: sum(parts, 'currentHealthy'),
    desiredHealthy: sum(parts, 'desiredHealthy'),
    expectedPods: sum(parts, 'expectedPods'),
    ...disrupted(input),
    ...(conditions.length > 0 && { conditions }),
  };
};
