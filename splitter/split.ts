import { placedKind } from '../cluster/kinds.ts';
import { isBeingOrphaned } from '../cluster/orphans.ts';
import type { Condition, Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ScaleTarget } from './autoscaler.ts';
import { withBudgets } from './budget.ts';
import { conditionsOf } from './conditions.ts';
import { foldStatus } from './fold/index.ts';
import { handover } from './handover.ts';
import type { Shares, Slices } from './plan.ts';

export interface SplitInput {
  placement: Placement;
  /** What spec.ref names now, whatever its uid; undefined when there is no such object. */
  root: KubeObject | undefined;
  isKnown(cluster: string): boolean;
  now: number;
  settleMs: number;
  /** What `root` scales, where it is an autoscaler and that is known. */
  target?: ScaleTarget | undefined;
}

export interface Split {
  shares: Shares;
  /** Slices to remove from status.clusters. */
  stale: string[];
  conditions: Condition[];
  /** The root's new status; undefined: leave it. */
  rootStatus: Record<string, unknown> | undefined;
  requeueAfterMs?: number;
}

/** All that the splitter decides about one Placement. */
export function split({ placement, root, isKnown, now, settleMs, target }: SplitInput): Split {
  const { ref, clusters = [], shares: previous = {} } = placement.spec ?? { ref: undefined };
  const slices: Slices = placement.status?.clusters ?? {};
  const live = root !== undefined && root.metadata.uid === ref?.uid ? root : undefined;
  // Without its object nothing can be planned; the scheduler says when its shares may go, closure last.
  const deleted = live === undefined || live.metadata.deletionTimestamp !== undefined;
  // A workload that fits nowhere stays where it is; what goes along with workloads leaves with the last of them.
  const released = ref !== undefined && placedKind(ref)?.role === 'closure' && clusters.length === 0;
  const gone = deleted || released;
  const frozen = deleted && (clusters.length > 0 || (live !== undefined && isBeingOrphaned(live)));
  const subject = live ?? { apiVersion: '', kind: ref?.kind ?? '', metadata: {} };
  const outcome = frozen
    ? { shares: previous, stale: [], waitingFor: [] }
    : handover({ root: subject, gone, clusters, previous, slices, isKnown, now, settleMs, target });
  const shares = live ? withBudgets(live, outcome.shares) : outcome.shares;
  const conditions = conditionsOf({
    placement,
    shares,
    slices,
    waitingFor: outcome.waitingFor,
    gone: deleted,
    now,
  });
  const rootStatus = live && foldStatus(live, shares, slices);
  const { requeueAfterMs } = outcome;
  return {
    shares,
    stale: outcome.stale,
    conditions,
    rootStatus,
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  };
}
