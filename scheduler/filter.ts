import { limitsOf } from '../cluster/capacity.ts';
import { isDrained, readyOf } from '../cluster/life.ts';
import { moreServed } from '../cluster/names.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import type { Toleration } from '../cluster/policy.ts';
import { silenceOf } from '../cluster/silence.ts';
import type { PhysicalCluster, Taint } from '../cluster/types.ts';
import {
  compareQuantity,
  formatQuantity,
  type Quantity,
  subtractQuantity,
  zeroQuantity,
} from '../kube/quantity.ts';
import { timestamp } from '../kube/timestamp.ts';
import { type Evicting, endOf, evictingOf } from './tolerations.ts';

/** One physical cluster as a place for one object. */
export interface Candidate {
  name: string;
  /** Undefined: an annotation names a cluster that does not exist. */
  cluster: PhysicalCluster | undefined;
  /** Why an annotation or a policy does not want the object there. */
  refused?: string | undefined;
  /** It is another one, registered twice, or this Atoll itself; or it is given up, and so undefined. */
  notTaken?: string | undefined;
  /** Taints that do not count for the object, or not yet. */
  tolerations?: readonly Toleration[];
  /** Milliseconds since 1970. */
  now: number;
  /** See listenedSince in scheduler/tolerations.ts. */
  listened?: number | undefined;
  /** It is drained, and it is not the object's turn to leave it. */
  waits?: boolean;
  /** The object is there already: only what drives things away speaks against it. */
  isThere: boolean;
  /** What the object would add there. */
  need: Resources;
  /** What we have placed there otherwise. */
  used: Resources;
  /** Of a custom resource: which it has to serve, as `<resource>.<group>/<version>`. */
  kind?: string | undefined;
}

/** Why a cluster is out of the question, as a sentence; undefined: it is not. */
export type Filter = (candidate: Candidate) => string | undefined;

/** These hold for what is there as well. */
const evicting: readonly Filter[] = [exists, isWanted, notDraining, notEvicting];
/** These hold for newcomers only: cordon is not drain, silence is not death. */
const admitting: readonly Filter[] = [
  isAnother,
  isReady,
  servesKind,
  notCordoned,
  notTainted,
  notForAWhile,
  lackAt,
];

const all = [...evicting, ...admitting];

/** The first objection. */
export function objection(candidate: Candidate): string | undefined {
  for (const filter of candidate.isThere ? evicting : all) {
    const reason = filter(candidate);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function exists({ cluster, notTaken }: Candidate): string | undefined {
  return cluster ? undefined : (notTaken ?? 'there is no physical cluster of this name');
}

function isWanted({ refused }: Candidate): string | undefined {
  return refused;
}

function notDraining({ cluster, waits }: Candidate): string | undefined {
  if (waits || !isDrained(cluster)) return undefined;
  return cluster?.metadata.deletionTimestamp !== undefined ? 'it is being removed' : 'it is being drained';
}

function notEvicting(candidate: Candidate): string | undefined {
  const evicting = firstOf(candidate);
  if (!evicting || evicting.until > candidate.now) return undefined;
  const { taint, until, silence } = evicting;
  const words = silence?.words ?? saidOf(taint);
  return until === 0 ? words : `${words}, and that was tolerated until ${timestamp(until)}`;
}

/** Of one on which it is, and is not to stay: until when what drives it away is tolerated. Undefined: nothing does, or for ever. */
export function endingWords(candidate: Pick<Candidate, 'cluster' | 'tolerations' | 'now' | 'listened'>) {
  const evicting = firstOf(candidate);
  if (!evicting || evicting.until <= candidate.now || evicting.until === Number.POSITIVE_INFINITY)
    return undefined;
  const { taint, until, silence } = evicting;
  return `${silence?.words ?? saidOf(taint)}, which is tolerated until ${timestamp(until)}`;
}

/** Nothing comes to be driven away again. */
function notForAWhile(candidate: Candidate): string | undefined {
  const evicting = firstOf(candidate);
  if (!evicting || evicting.until === Number.POSITIVE_INFINITY) return undefined;
  return `${saidOf(evicting.taint)}, which is tolerated for a while only`;
}

function firstOf({
  cluster,
  tolerations = [],
  listened,
}: Pick<Candidate, 'cluster' | 'tolerations' | 'listened'>): Evicting | undefined {
  return cluster && evictingOf(cluster, tolerations, listened);
}

function isAnother({ notTaken }: Candidate): string | undefined {
  return notTaken;
}

function isReady({ cluster }: Candidate): string | undefined {
  const ready = cluster && readyOf(cluster);
  if (ready?.status === 'True') return undefined;
  const silence = cluster && silenceOf(cluster);
  if (silence) return silence.words;
  return ready ? `it is not ready (${ready.reason})` : 'it has not reported that it is ready';
}

function servesKind({ cluster, kind }: Candidate): string | undefined {
  const { serves = [] } = cluster?.status ?? {};
  // Where it serves more than it tells it may serve this too.
  if (kind === undefined || serves.includes(kind) || serves.includes(moreServed)) return undefined;
  return `it does not serve ${kind}`;
}

function notCordoned({ cluster }: Candidate): string | undefined {
  return cluster?.spec?.unschedulable === true ? 'it is cordoned' : undefined;
}

function notTainted(candidate: Candidate): string | undefined {
  return tainted(candidate, 'NoSchedule');
}

function tainted(candidate: Candidate, effect: Taint['effect']): string | undefined {
  const taint = taintOf(candidate, effect);
  return taint && saidOf(taint);
}

function saidOf({ key, value, effect }: Taint): string {
  return `it has the taint ${key}${value ? `=${value}` : ''}:${effect}`;
}

/** The first of its taints with this effect that the object does not tolerate. */
export function taintOf(
  { cluster, tolerations = [] }: Candidate,
  effect: Taint['effect'],
): Taint | undefined {
  return cluster?.spec?.taints?.find((taint) => taint.effect === effect && endOf(tolerations, taint) === 0);
}

/** What of a need a cluster has no room for beside what is used there. */
export function lackAt({
  cluster,
  need,
  used,
}: Pick<Candidate, 'cluster' | 'need' | 'used'>): string | undefined {
  for (const [name, limit] of limitsOf(cluster)) {
    const asked = need.get(name) ?? zeroQuantity;
    if (asked.value <= 0n) continue;
    const left = subtractQuantity(limit, used.get(name) ?? zeroQuantity);
    if (compareQuantity(asked, left) > 0) return lacks(name, asked, left);
  }
  return undefined;
}

function lacks(name: string, asked: Quantity, left: Quantity): string {
  const amount = shown(asked);
  return `needs ${amount} ${name === 'pods' && amount === '1' ? 'pod' : name}, ${shown(left)} left`;
}

/** Of what is taken already beyond the bound, nothing is left. */
function shown(amount: Quantity): string {
  return amount.value < 0n ? '0' : formatQuantity(amount);
}
