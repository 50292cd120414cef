import { silentMsOf } from '../cluster/silence.ts';
import type { PhysicalCluster, PhysicalClusterStatus } from '../cluster/types.ts';

/** After so many intervals without a word others take a cluster for silent. */
const silentBeats = 4;

/** However often a cluster is asked, so long it may take to answer. */
const leastProbeMs = 3_000;

/** How many intervals more are waited, each a piece after which the watches are looked at: where they are open, and where it rests. */
const pauses = [1];
const restingPauses = [1, 2, 2];

export function probeMs(intervalMs: number): number {
  return Math.max(leastProbeMs, intervalMs);
}

/** The same of one that says that it rests: as long as it is left alone, and three times what an answer may take. */
function restingMs(intervalMs: number): number {
  const alone = restingPauses.reduce((sum, beats) => sum + beats, 1);
  return alone * intervalMs + 3 * probeMs(intervalMs);
}

/** After how long without a word others take it for silent. */
export function silentMsAt(known: PhysicalCluster | undefined, intervalMs: number): number {
  const leastMs = silentBeats * intervalMs;
  return known ? silentMsOf(known, leastMs) : leastMs;
}

/** Others have been told that it may be silent for as long as one that rests. */
export function saysItRests(known: PhysicalCluster | undefined, intervalMs: number): boolean {
  return silentMsAt(known, intervalMs) >= restingMs(intervalMs);
}

/**
 * How long a cluster of which nothing is new is left alone, after an interval: longer while nothing of ours is there. While others may
 * take it for silent sooner, since they have not been told, it is asked as often as any.
 */
export function pausesOf(known: PhysicalCluster | undefined, rests: boolean, intervalMs: number): number[] {
  return (saysItRests(known, intervalMs) && rests ? restingPauses : pauses).map(
    (beats) => beats * intervalMs,
  );
}

/** What it says of that: nothing, as long as it has never rested. */
export function silentAfter(
  said: PhysicalClusterStatus | undefined,
  rests: boolean,
  intervalMs: number,
): Pick<PhysicalClusterStatus, 'silentAfterSeconds'> {
  if (!rests && said?.silentAfterSeconds === undefined) return {};
  const ms = rests ? restingMs(intervalMs) : silentBeats * intervalMs;
  return { silentAfterSeconds: Math.ceil(ms / 1000) };
}
