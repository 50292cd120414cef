import { kindNamed } from '../cluster/kinds.ts';
import { startsBeside } from '../cluster/renewed.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Plan, Shares } from './plan.ts';

/**
 * What is leaving a cluster and is to be there again need not wait for its former pods to end: what may run twice starts beside them, as soon as
 * the object itself has gone. Of what has its data brought along, or stops first, another one would find those at work.
 */
export function withAnew({ kind }: KubeObject, plan: Plan, shares: Shares): Shares {
  const placed = kindNamed(kind);
  const may = placed !== undefined && startsBeside(placed) && plan.mode === 'counts' && !plan.once;
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]) => {
      if (share.phase !== 'Leaving') return [cluster, share];
      const { anew: _before, ...rest } = share;
      const isAnew = may && plan.goal.has(cluster) && !share.held;
      return [cluster, isAnew ? { ...rest, anew: true } : rest];
    }),
  );
}
