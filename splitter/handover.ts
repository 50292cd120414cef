import { isFinished, kindNamed } from '../cluster/kinds.ts';
import { isHeldBack } from '../cluster/pod-admission.ts';
import type { Share } from '../cluster/types.ts';
import { claimsCopiedWhole } from '../cluster/volume-copy.ts';
import type { KubeObject } from '../kube/object.ts';
import { withAnew } from './anew.ts';
import { type Copying, isWrittenTo, wantsOf } from './copies.ts';
import { type CopyStep, copyStep, nothingCopied, withClaimsAsked } from './copy-step.ts';
import { nextCounts, nextWhole } from './handover-many.ts';
import { nextOnce, nextWholeOnce } from './handover-once.ts';
import { joinsNobody, nextBatch, nextSingle, withCame } from './handover-one.ts';
import { type Held, type Hold, hold } from './hold.ts';
import { type Plan, type PlanOptions, planFor, type Shares, type Slices } from './plan.ts';
import { isCountedOn, type Next, type Scene } from './scene.ts';
import { settle, type Unled } from './settle.ts';
import { blindIn, isReleased, isStill, refusingIn } from './stopped.ts';
import { type Witness, withQuestions } from './trust.ts';
import { earlier, heardAgain, type Withdrawal, withdraw } from './withdraw.ts';

export interface HandoverInput extends PlanOptions, Hold, Withdrawal, Unled {
  /** Absent or of another uid than the Placement's: pass `gone`. */
  root: KubeObject;
  /** The object is deleted: nothing has to be preserved. */
  gone: boolean;
  /** Where it should be. Empty although it exists: nowhere fits, so it stays where it is; what has ended need be nowhere. */
  clusters: readonly string[];
  previous: Shares;
  slices: Slices;
  /** Whether a physical cluster of that name still exists: from a forgotten one no answer will come. */
  isKnown(cluster: string): boolean;
  /** When a physical cluster was last heard of, in milliseconds since 1970; undefined: it is not Ready. */
  heardAt(cluster: string): number | undefined;
  /** What of its data comes along, and how far that is; absent: none does. */
  copying?: Copying | undefined;
  /** See Scene. */
  keepsEnded?: Scene['keepsEnded'];
  /** See Scene. */
  isBlind?: Scene['isBlind'];
  /** See Scene. */
  toldAt?: Scene['toldAt'];
  /** See Witness. */
  isClosed?: Witness['isClosed'];
  /** Milliseconds since 1970. */
  now: number;
  /** How long a share must have been ready without a break before others shrink on the strength of it. */
  settleMs: number;
}

/** Nothing keeps anything. */
export const notHeld: Handover['hold'] = { held: [], without: [] };
/** Nobody is waited for. */
export const atRest = {
  waitingFor: [],
  unled: [],
  blind: [],
  refusing: [],
  hold: notHeld,
  once: false,
  begun: false,
  copied: nothingCopied,
} as const;

export interface Handover {
  shares: Shares;
  /**
   * Slices to remove, before the shares are written: of clusters that hold no share any more, before they may join
   * again; of those that begin to leave, a "not there" said before they were told to go.
   */
  stale: string[];
  /** Targets that are not counted on yet, sorted. */
  waitingFor: readonly string[];
  /** Of these, those that are ready, and that a Service does not lead to yet. */
  unled: readonly string[];
  /** Where what may not run twice is to stop, and does not, as its pods there cannot be read. Sorted. */
  blind: readonly string[];
  /** Of ordinals, of which some are to stop and do not: where an autoscaler takes no other bounds. Sorted. */
  refusing: readonly string[];
  /** What keeps a copy that might go from going, and until when. */
  hold: Pick<Held, 'held' | 'until' | 'firm' | 'without'>;
  /** It may not run twice: it stops where it is before it starts elsewhere. */
  once: boolean;
  /** It ends, or has ended, where it began: nobody else is waited for. */
  begun: boolean;
  /** What is to be copied before it starts elsewhere. */
  copied: CopyStep;
  requeueAfterMs?: number;
}

/**
 * The one hand-over, for move, spread, consolidation, drain and rescaling alike: growth first; nobody shrinks
 * before every target has been ready for the settle time, is ready now, and was heard of since; what leaves is withdrawn
 * first, goes through Leaving and is dropped only when its cluster says that it is gone. All state is in `previous`, so it may be interrupted and
 * resumed, and a target that changes on the way is only another plan.
 */
export function handover(input: HandoverInput): Handover {
  const { slices, previous, clusters, gone } = input;
  const remaining = heardAgain(withCame(remainingOf(input), input), input.heardAt);
  const stays = Object.entries(remaining).filter(([, share]) => share.phase !== 'Leaving');
  if (gone) {
    const shares = allLeaving(remaining);
    return { ...atRest, shares, stale: staleOf(slices, previous, shares) };
  }
  const isSaid = clusters.length > 0 || isFinished(input.root);
  const wanted = isSaid ? clusters : stays.map(([c]) => c);
  const takesVolumes = claimsCopiedWhole(input.root, input.copying?.copies).length > 0;
  const plan = planFor(input.root, wanted, remaining, { ...input, takesVolumes });
  const { settled, since, unled, requeueAfterMs } = settle(input, plan, released(input, plan, remaining));
  const scene: Scene = { ...input, plan, shares: withQuestions(input, plan, settled, since) };
  const { stepped, requeueAfterMs: heldMs, ...held } = hold(scene, next(scene), input);
  const left = withdraw(scene, withAnew(input.root, plan, apply(scene.shares, stepped, input)), input);
  const asked = withoutHeldBack(input, withQuestions(input, plan, left.shares));
  const isGone = (c: string, share: Share) => isReleased(slices, c, share, plan.first) && isStill(scene, c);
  const copied = copyStep({ ...input, plan }, asked, isGone);
  const shares = withClaimsAsked(asked, copied);
  const after: Scene = { ...scene, shares };
  const isThere = (c: string) => !plan.once || shares[c]?.replicas === plan.goal.get(c)?.replicas;
  const begun = joinsNobody(scene);
  const owed = [...plan.goal.keys()].filter((c) => !begun || Object.hasOwn(shares, c));
  const waitingFor = owed.filter((c) => !isCountedOn(after, c) || !isThere(c)).sort();
  const { once = false } = plan;
  const stale = staleOf(slices, previous, shares);
  const again = earlier(earlier(earlier(requeueAfterMs, left.requeueAfterMs), heldMs), copied.requeueAfterMs);
  return {
    shares,
    stale,
    waitingFor,
    unled: unled.filter((c) => waitingFor.includes(c)),
    blind: blindIn(after),
    refusing: refusingIn(after),
    hold: held,
    once,
    begun,
    copied,
    ...(again !== undefined && { requeueAfterMs: again }),
  };
}

/** What was never made is taken back at once where it is not to be: there is nothing there that could serve until others do. */
function withoutHeldBack({ root, clusters }: HandoverInput, shares: Shares): Shares {
  if (clusters.length === 0 || !isHeldBack(root)) return shares;
  return Object.fromEntries(
    Object.entries(shares).map(([c, share]) => [
      c,
      clusters.includes(c) ? share : { ...share, phase: 'Leaving' as const },
    ]),
  );
}

function staleOf(slices: Slices, previous: Shares, shares: Shares): string[] {
  return Object.entries(slices).flatMap(([cluster, slice]) => {
    if (!Object.hasOwn(previous, cluster)) return [cluster];
    const beginsToLeave = shares[cluster]?.phase === 'Leaving' && previous[cluster]?.phase !== 'Leaving';
    return beginsToLeave && !slice.present ? [cluster] : [];
  });
}

function next(scene: Scene): Next {
  switch (scene.plan.mode) {
    case 'counts':
      return scene.plan.once ? nextOnce(scene) : nextCounts(scene);
    case 'ranges':
      return nextOnce(scene);
    case 'whole':
      return scene.plan.once ? nextWholeOnce(scene) : nextWhole(scene);
    case 'single':
      return nextSingle(scene);
    case 'batch':
      return nextBatch(scene);
  }
}

/**
 * A Leaving share goes when its cluster says so, any share when its cluster was forgotten. What goes along with workloads
 * joins again where it is wanted: to apply it anew is enough, and a workload that came first would keep it from going.
 */
function remainingOf({ root, gone, previous, slices, isKnown, clusters }: HandoverInput): Shares {
  const isAlong = kindNamed(root.kind)?.role === 'closure';
  const remaining = Object.entries(previous).flatMap(([cluster, share]): [string, Share][] => {
    const isWanted = !gone && clusters.includes(cluster);
    if (share.phase !== 'Leaving') return isKnown(cluster) || isWanted ? [[cluster, share]] : [];
    if (!isKnown(cluster)) return [];
    if (isAlong && isWanted) return [[cluster, { ...share, phase: 'Joining' }]];
    return slices[cluster]?.present === false ? [] : [[cluster, share]];
  });
  return Object.fromEntries(remaining);
}

function allLeaving(shares: Shares): Shares {
  return Object.fromEntries(Object.entries(shares).map(([c, share]) => [c, leaving(share)]));
}

function leaving(share: Share): Share {
  const {
    settled: _settled,
    readySince: _since,
    heardSince: _asked,
    goal: _goal,
    withdrawing: _withdrawing,
    awaitedSince: _awaited,
    cameBack: _back,
    fresh: _fresh,
    anew: _anew,
    ...numbers
  } = share;
  return { ...numbers, phase: 'Leaving' };
}

/**
 * What is held no longer: because the pods are gone, and of what they had all is where it is to be, or because it may run twice now.
 */
function released(input: HandoverInput, plan: Plan, shares: Shares): Shares {
  const held = { ...input, plan };
  const isKept = (cluster: string, share: Share) =>
    plan.once &&
    (!isReleased(input.slices, cluster, share, plan.first) ||
      !isStill(held, cluster) ||
      wantsOf(held, shares, cluster).length > 0 ||
      isWrittenTo(held, share));
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]): [string, Share] => {
      if (!share.held || share.phase === 'Leaving' || isKept(cluster, share)) return [cluster, share];
      const { held: _held, ...rest } = share;
      return [cluster, rest];
    }),
  );
}

/** A cluster may join only when it has no share and nothing is left of what it said of an earlier one. */
function apply(shares: Shares, wanted: Next, { slices }: HandoverInput): Shares {
  const result = new Map<string, Share>();
  for (const [cluster, share] of Object.entries(shares)) {
    if (share.phase === 'Leaving') result.set(cluster, share);
    else result.set(cluster, wanted.get(cluster) ?? leaving(share));
  }
  for (const [cluster, share] of wanted) {
    if (!result.has(cluster) && !Object.hasOwn(slices, cluster)) result.set(cluster, share);
  }
  return Object.fromEntries([...result].sort(([a], [b]) => (a < b ? -1 : 1)));
}
