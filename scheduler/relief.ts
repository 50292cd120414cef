import { costOf, limitsOf } from '../cluster/capacity.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import { addResources, subtractResources } from '../cluster/pod-spec.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { amountOf, freePart } from './score.ts';

/**
 * How many points of a hundred more have to be free where a rebalance moves something, with that, than where it was. Each move is a
 * start of every pod: less is not worth it, and autoscalers alone make that much difference from one hour to the next.
 */
export const marginPoints = 10;
/** Of two clusters of which nobody knows what they have room for: the part that there have to be fewer pods, and how many. */
const fewerPart = 1 / 5;
const fewerPods = 2;
/** What arithmetic makes of equal amounts differs by less. */
const nothing = 1e-9;

/** A cluster, and what is taken there once all that is on its way has arrived. */
export interface Load {
  name: string;
  cluster: PhysicalCluster | undefined;
  used: Resources;
}

/** How much better a place is for what would leave another one. */
export interface Relief {
  /** The part of `to` that is free with it; where nobody knows that, fewer pods are more. */
  free: number;
  pods: number;
  /** `west has 71 % free, east 40 %` */
  words: string;
}

/**
 * What `need` gains by leaving `from`, whose load it is part of, for `to`. Undefined: there is not clearly more room, or it costs more. What is said of
 * one move holds for any number of them: of the two, the one with less room has more than before, or `from` fewer pods, so that no
 * sequence of moves comes back to where it began.
 */
export function reliefOf(need: Resources, from: Load, to: Load): Relief | undefined {
  if (costOf(to.cluster) > costOf(from.cluster)) return undefined;
  const after = addResources(to.used, need);
  const pods = amountOf(after, 'pods');
  const free = freePart(to.cluster, after);
  if (!isBounded(from) && !isBounded(to)) {
    const had = amountOf(from.used, 'pods');
    const isFewer = pods <= had * (1 - fewerPart) + nothing && had - pods >= fewerPods;
    if (!isFewer || amountOf(need, 'pods') <= 0) return undefined;
    return { free, pods, words: `${to.name} has ${pods} pod${pods === 1 ? '' : 's'}, ${from.name} ${had}` };
  }
  const had = freePart(from.cluster, from.used);
  // What takes nothing of what is scarce there leaves no more room behind.
  const helps = freePart(from.cluster, subtractResources(from.used, need)) > had + nothing;
  if (!helps || (free - had) * 100 < marginPoints - nothing) return undefined;
  return { free, pods, words: `${to.name} has ${shown(free)} free, ${from.name} ${shown(had)}` };
}

/** The best first: most free, then the fewest pods, then by name. */
export function byRelief(a: Relief & { name: string }, b: Relief & { name: string }): number {
  return b.free - a.free || a.pods - b.pods || (a.name < b.name ? -1 : 1);
}

function isBounded({ cluster }: Load): boolean {
  return limitsOf(cluster).size > 0;
}

function shown(part: number): string {
  return `${Math.max(0, Math.round(part * 100))} %`;
}
