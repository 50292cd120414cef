import { isEnding } from '../cluster/deletion.ts';
import { placedKind } from '../cluster/kinds.ts';
import { isBeingOrphaned } from '../cluster/orphans.ts';
import { slicesOf } from '../cluster/ruled.ts';
import type { Silence } from '../cluster/silence.ts';
import type { Condition, Placement, Scale } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Scaler, ScaleTarget } from './autoscaler.ts';
import { toldOnce } from './autoscaler-told.ts';
import { withBudgets } from './budget.ts';
import { conditionsOf } from './conditions.ts';
import { type Covered, withDisruptions } from './disruption.ts';
import { foldStatus } from './fold/index.ts';
import { lateAfter } from './fold/refused.ts';
import { follow, scaleOf, stamped } from './follow.ts';
import { besideFormer, withoutFormer } from './former.ts';
import { atRest, type Handover, type HandoverInput, handover } from './handover.ts';
import type { Hold } from './hold.ts';
import { afterMinimum, type ToldAt } from './lower.ts';
import type { Shares, Slices } from './plan.ts';
import { type Demand, withQuota } from './quota.ts';
import { availableOf } from './ready.ts';
import type { Unled } from './settle.ts';
import { sooner } from './silences.ts';
import { type Manner, withWithdrawn } from './traffic.ts';
import type { Witness } from './trust.ts';
import { restored, type Withdrawal } from './withdraw.ts';

export interface SplitInput {
  placement: Placement;
  /** What spec.ref names now, whatever its uid; undefined when there is no such object. */
  root: KubeObject | undefined;
  isKnown(cluster: string): boolean;
  /** When a physical cluster was last heard of, in milliseconds since 1970; undefined: it is not Ready. */
  heardAt(cluster: string): number | undefined;
  /** Those whose grace is over; default: none. */
  silenceOf?(cluster: string): Silence | undefined;
  /** Those that do not answer, from when on that is known; default: none. */
  silenceAt?(cluster: string): Silence | undefined;
  now: number;
  settleMs: number;
  /** What `root` scales, where it is an autoscaler and that is known. */
  target?: ScaleTarget | undefined;
  /** It uses a volume that one node alone may have. */
  hasOwnVolume?: boolean | undefined;
  /** The pods that `root` is about, where it is a disruption budget. */
  covered?: Covered | undefined;
  /** What is in its namespace, where it is a quota. */
  demands?: readonly Demand[] | undefined;
  /** See Handover. */
  copying?: HandoverInput['copying'];
  /** How it is handed over; default: neither paused nor drained. */
  manner?: Manner | undefined;
  /** See Hold. */
  awaited?: Hold['awaited'];
  /** See Hold. */
  isForgotten?: Hold['isForgotten'];
  /** See Withdrawal. */
  isOpen?: Withdrawal['isOpen'];
  /** See Scene. */
  keepsEnded?: HandoverInput['keepsEnded'];
  /** See Handover. */
  isBlind?: HandoverInput['isBlind'];
  /** See Witness. */
  isClosed?: Witness['isClosed'];
  /** See Unled. */
  isUnled?: Unled['isUnled'];
  /** Where `root` is a Service or an Ingress: the workloads behind it. */
  behind?: readonly Placement[] | undefined;
  /** Of a Service of a single pod: whether that is there. */
  isServed?: ((cluster: string) => boolean) | undefined;
  /** What scales `root`, where something does. */
  scaler?: Scaler | undefined;
  /** Of that. */
  toldAt?: ToldAt | undefined;
}

export interface Split {
  shares: Shares;
  /** Undefined where no autoscaler scales it; `replicas` is then what the root's own spec should say. */
  scale: Omit<Scale, 'generation'> | undefined;
  /** Slices to remove from status.clusters. */
  stale: string[];
  conditions: Condition[];
  /** See Handover. */
  hold: Handover['hold'];
  /** See Handover. */
  once: Handover['once'];
  /** See Handover. */
  copied: Handover['copied'];
  /** The root's new status; undefined: leave it. */
  rootStatus: Record<string, unknown> | undefined;
  requeueAfterMs?: number;
}

/** All that the splitter decides about one Placement. */
export function split(input: SplitInput): Split {
  const placement = withoutFormer(input.placement);
  if (placement === input.placement) return decide(input);
  const outcome = decide({ ...input, placement });
  return { ...outcome, shares: besideFormer(outcome.shares, input.placement, input.isKnown) };
}

function decide(input: SplitInput): Split {
  const { placement, root, isKnown, heardAt, now, settleMs, target, scaler, toldAt } = input;
  const { ref, clusters = [], shares: before = {}, scale: said } = placement.spec ?? { ref: undefined };
  const previous = restored(before);
  const slices: Slices = slicesOf(placement);
  const live = root !== undefined && root.metadata.uid === ref?.uid ? root : undefined;
  // Without its object nothing can be planned; the scheduler says when its shares may go, closure last.
  const deleted = live === undefined || isEnding(live);
  // A workload that fits nowhere stays where it is; what goes along with workloads leaves with the last of them.
  const released = ref !== undefined && placedKind(ref)?.role === 'closure' && clusters.length === 0;
  const gone = deleted || released;
  const frozen = deleted && (clusters.length > 0 || (live !== undefined && isBeingOrphaned(live)));
  const subject = live ?? { apiVersion: '', kind: ref?.kind ?? '', metadata: {} };
  const followed = gone
    ? { there: previous, shares: previous }
    : follow({ root: subject, scaler, clusters, previous, slices, scale: said, toldAt });
  const { scaling } = followed;
  const from = { root: subject, clusters, previous: followed.shares, slices, scaling };
  const outcome = frozen
    ? { ...atRest, shares: before, stale: [] }
    : handover({
        ...from,
        gone,
        isKnown,
        heardAt,
        now,
        settleMs,
        target,
        spread: placement.spec?.spread,
        toldAt: scaling && toldAt,
        ...input.manner,
        ...besideIn(input),
      });
  const { once, waitingFor } = outcome;
  const availableAt = (c: string) => availableHeard(input, slices, c);
  const how = { scaling, scaler, toldAt, once, availableAt };
  const after = gone ? outcome.shares : afterMinimum(outcome.shares, followed.there, how);
  const decided = besides(input, live, { clusters, slices, before: previous, shares: after });
  const shares = stamped(followed, decided);
  const conditions = conditionsOf({
    ...outcome,
    placement,
    shares,
    slices,
    gone: deleted,
    renewed: root !== undefined && live === undefined,
    root: live,
    total: scaling?.total,
    silenceAt: input.silenceAt,
    silenceOf: input.silenceOf,
    now,
  });
  const told = toldOnce(slices, target);
  const rootStatus = live && foldStatus(live, serving(shares, input), told, input.silenceOf, now);
  const requeueAfterMs = sooner(outcome.requeueAfterMs, live && lateAfter(live, rootStatus, now))?.after;
  return {
    shares,
    scale: scaleOf(followed, { shares, clusters, before: said, waitingFor }),
    stale: outcome.stale,
    hold: outcome.hold,
    once,
    copied: outcome.copied,
    conditions,
    rootStatus,
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  };
}

/** An address that leads to nobody is told no more than one that is withdrawn. */
function serving(shares: Shares, { isServed }: SplitInput): Shares {
  if (!isServed) return shares;
  const told = Object.entries(shares).map(([c, share]) => [
    c,
    isServed(c) ? share : { ...share, withdrawn: true },
  ]);
  return Object.fromEntries(told);
}

function besideIn(input: SplitInput) {
  const { hasOwnVolume, copying, awaited, isForgotten, isOpen, isBlind, isClosed, isUnled, keepsEnded } =
    input;
  return { hasOwnVolume, copying, awaited, isForgotten, isOpen, isBlind, isClosed, isUnled, keepsEnded };
}

function availableHeard({ heardAt }: SplitInput, slices: Slices, cluster: string): number | undefined {
  const isHeard = heardAt(cluster) !== undefined;
  return isHeard
    ? availableOf({ phase: 'Active', replicas: Number.MAX_SAFE_INTEGER }, slices[cluster])
    : undefined;
}

interface Decided {
  clusters: readonly string[];
  slices: Slices;
  before: Shares;
  shares: Shares;
}

/** The shares with what else is divided, or goes with them. */
function besides(input: SplitInput, live: KubeObject | undefined, decided: Decided): Shares {
  const { clusters, slices, before } = decided;
  const shares = input.behind ? withWithdrawn(decided.shares, input.behind) : decided.shares;
  if (!live) return shares;
  const isPaused = input.manner?.paused;
  const rolling = withBudgets(live, shares, { clusters, slices, silenceOf: input.silenceOf, isPaused });
  const covered = withDisruptions(live, rolling, input.covered);
  return withQuota(live, covered, { before, slices, demands: input.demands });
}
