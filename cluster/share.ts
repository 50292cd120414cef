/**
 * Joining: being made, not yet ready for `settle`. Active: counted on. Withdrawing: its successor is ready; its pods
 * run, and get no new connections for the time of a drain. Leaving: the object is being removed
 * there; its closure stays until the syncer says it is gone, then the share goes.
 */
export type SharePhase = 'Joining' | 'Active' | 'Withdrawing' | 'Leaving';

export interface Share {
  phase: SharePhase;
  /**
   * Of a divided workload (Deployment, StatefulSet, ReplicaSet, ReplicationController): its part. Of an autoscaler:
   * its part of the minimum.
   */
  replicas?: number;
  /**
   * While an autoscaler owns the replicas of the workload: counts how often they were set from here. The syncer sets
   * them once for each, and otherwise leaves what it finds; of an Active share `replicas` follows what is there.
   */
  scaled?: number;
  /** Of an autoscaler: its part of the maximum. */
  maxReplicas?: number;
  /** Of a divided Job. */
  completions?: number;
  parallelism?: number;
  /** Of a part of a Job: the completions of the whole that had come on clusters which were given up since. */
  came?: number;
  /** Of a StatefulSet: spec.ordinals.start of its part. */
  ordinalsStart?: number;
  /**
   * True where the kind runs on one cluster at a time and this one must wait (CronJob, Job); of an autoscaler, while it is to leave
   * its target as it is.
   */
  suspend?: boolean;
  /**
   * Of a CronJob that waited and runs now, RFC 3339: when one was last due that has been started, on whichever cluster. Its syncer
   * sees to it that none up to then is started again.
   */
  ranAt?: string;
  /**
   * True of what is to be updated in turns, where it has no turn: its pods keep the template that they have. A Deployment
   * is paused for it, a StatefulSet partitioned.
   */
  paused?: boolean;
  maxSurge?: number | string;
  maxUnavailable?: number | string;
  /** Of a PodDisruptionBudget over several clusters; of one, maxUnavailable is that of its pods. */
  minAvailable?: number;
  /** Of a ResourceQuota over several clusters: its part of what bounds pods. */
  hard?: Record<string, string>;
  /** While Joining: what it was counted on for before it began to grow. Absent on a newcomer. */
  settled?: Pick<Share, 'replicas' | 'ordinalsStart'>;
  /**
   * Of what may not run twice, while it shrinks: what it had, which nobody else may run until its cluster has said
   * that the pods are gone. Its syncer then counts them.
   */
  held?: Pick<Share, 'replicas' | 'ordinalsStart'> & { since: string };
  /** Where it runs again since a copy of its data failed, until that is tried again: of which trip. */
  cameBack?: string;
  /** Its data is elsewhere, and is yet to be copied here: nothing of it has run here since it came. */
  fresh?: boolean;
  /** While claims are copied to its cluster: which, sorted. Its syncer says whether they are there. */
  claims?: string[];
  /**
   * While Withdrawing: since when (RFC 3339), what it becomes again when it is to stay after all, and since when its
   * cluster leads nobody there any more, from when on its drain counts. Without a time its cluster is silent: nothing is
   * taken there until it is heard of, and then all is asked anew.
   */
  withdrawing?: { since?: string; from: 'Joining' | 'Active'; closedSince?: string };
  /** RFC 3339; since when it could leave, and others are waited for. */
  awaitedSince?: string;
  /** Of a Service or an Ingress: every workload behind it there is Withdrawing or Leaving, so its addresses there are not told. */
  withdrawn?: boolean;
  /**
   * Of a StatefulSet, ordinal by ordinal on its way there: the range that it is to have. Of what an autoscaler scales: how
   * many it is to have, see splitter/lower.ts.
   */
  goal?: Pick<Share, 'replicas' | 'ordinalsStart'>;
  /** Of what was orphaned on its way elsewhere: its pods are left on another cluster, and here they go with it. */
  surplus?: boolean;
  /** While Leaving: it is to be there again, and starts beside those of its pods that have yet to end there. */
  anew?: boolean;
  /**
   * While Leaving: it is of the former object of that name, whose cluster did not answer when another one took the name over. What is
   * said there, and was told, is no matter of the present one.
   */
  former?: boolean;
  /** RFC 3339; since when the share has been ready without a break. */
  readySince?: string;
  /**
   * RFC 3339, while Active and others would shrink on its strength: its cluster must have been heard of since then.
   * Its syncer sees the question, and beats.
   */
  heardSince?: string;
}

const told = [
  ...(['phase', 'replicas', 'scaled', 'maxReplicas', 'completions', 'parallelism'] as const),
  ...(['ordinalsStart', 'suspend', 'ranAt', 'paused', 'held', 'claims', 'withdrawn'] as const),
  ...(['readySince', 'heardSince'] as const),
] as const;

/** What a syncer goes by itself: the rest is in the manifest that it is given, or the splitter's own. */
export type ToldShare = Pick<Share, (typeof told)[number]>;

export function toldShare(share: Share): ToldShare {
  const fields = told.flatMap((field) => (share[field] === undefined ? [] : [[field, share[field]]]));
  return Object.fromEntries(fields) as ToldShare;
}

/** It is to leave a cluster that is silent: see Share.withdrawing. */
export function leavesUnheard({ withdrawing }: Pick<Share, 'withdrawing'>): boolean {
  return withdrawing !== undefined && withdrawing.since === undefined;
}

/** It is to leave a cluster that has yet to take its addresses back: people are still led to it there. */
export function isStillLedTo({ withdrawing }: Pick<Share, 'withdrawing'>): boolean {
  return withdrawing?.since !== undefined && withdrawing.closedSince === undefined;
}

const telling: readonly SharePhase[] = ['Active', 'Withdrawing', 'Joining', 'Leaving'];

/**
 * The clusters of what is one, as a Pod that moves, in the order in which they are believed how it is, and asked where it is reached:
 * what is counted on first, then by name.
 */
export function tellersOf(shares: Readonly<Record<string, Pick<Share, 'phase'>>>): string[] {
  const rank = (name: string) => telling.indexOf(shares[name]?.phase ?? 'Leaving');
  return Object.keys(shares)
    .sort()
    .sort((a, b) => rank(a) - rank(b));
}
