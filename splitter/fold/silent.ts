import { clustersHeardType, type Silence } from '../../cluster/silence.ts';
import type { Condition } from '../../cluster/types.ts';
import { numberAt } from '../../kube/untyped.ts';
import type { FoldPart, Status } from './part.ts';

export const silentReason = 'ClusterSilent';

/** What is counted of pods. What is wanted, and what has come to its end, is no matter of who answers. */
const counted = new Set([
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'updatedReplicas',
  'currentReplicas',
  'fullyLabeledReplicas',
  'terminatingReplicas',
  'ready',
  'terminating',
  'numberReady',
  'numberAvailable',
  'currentNumberScheduled',
  'updatedNumberScheduled',
  'disruptionsAllowed',
  'currentHealthy',
]);

/** What still holds of what a silent cluster said: nobody knows whether a pod of it is there. */
export function unheard({ status, share, silence }: Pick<FoldPart, 'status' | 'share' | 'silence'>): Status {
  if (!silence) return status;
  const isCounted = ([field, value]: [string, unknown]) =>
    counted.has(field) || (field === 'active' && typeof value === 'number');
  const rest = Object.fromEntries(Object.entries(status).filter((entry) => !isCounted(entry)));
  const replicas = numberAt(status, 'replicas');
  if (replicas !== undefined) return { ...rest, unavailableReplicas: share.replicas ?? replicas };
  const wanted = numberAt(status, 'desiredNumberScheduled');
  return wanted === undefined ? rest : { ...rest, numberUnavailable: wanted };
}

/**
 * The clusters of which nothing is heard, as a condition of the workload; none while all of them are. One of ours:
 * its name is no word of Kubernetes, so nothing waits for it.
 */
export function clustersHeard(silences: readonly Silence[]): HeardCondition[] {
  const [first] = silences.map(({ since }) => since).sort();
  if (first === undefined) return [];
  return [
    {
      type: clustersHeardType,
      status: 'False',
      reason: silentReason,
      message: silences.map(({ words }) => words).join('; '),
      ...(first !== '' && { lastTransitionTime: first }),
    },
  ];
}

type HeardCondition = Omit<Condition, 'lastTransitionTime'> & { lastTransitionTime?: string };
