import { textAt } from '../kube/untyped.ts';
import { readyOf } from './life.ts';
import type { PhysicalCluster } from './types.ts';

/** How long one that does not answer may still be what it was last known to be. */
export const silentAfterMs = 40_000;

/** For how long nothing may be heard of its syncer: longer where that said so, since nothing of ours is there. */
export function silentMsOf({ status }: PhysicalCluster, leastMs = silentAfterMs): number {
  return Math.max(leastMs, (status?.silentAfterSeconds ?? 0) * 1000);
}

/** A cluster that nothing is heard of. */
export interface Silence {
  /** RFC 3339: when its API last answered, or when it was registered. */
  since: string;
  /** What is said of it wherever it is said. */
  words: string;
}

/** Reasons of Ready that are no silence: the cluster answers, and is not wanted. */
const answering = new Set(['SameCluster']);

/** Undefined while the cluster answers. */
export function silenceOf(cluster: PhysicalCluster): Silence | undefined {
  const ready = readyOf(cluster);
  if (ready?.status === 'True' || answering.has(ready?.reason ?? '')) return undefined;
  return silenceSince(cluster);
}

/** For how many milliseconds more what is there still counts; 0: not any more. */
export function graceLeft({ since }: Silence, now: number, graceMs: number): number {
  return Math.max(0, (Date.parse(since) || 0) + graceMs - now);
}

/** Of one that has just not answered, whatever its condition still says. */
export function silenceSince({ metadata, status }: PhysicalCluster): Silence {
  const since = status?.lastAnswerTime ?? metadata.creationTimestamp ?? '';
  const name = metadata.name ?? '';
  if (status?.lastAnswerTime !== undefined)
    return { since, words: `cluster ${name} has not answered since ${since}` };
  return {
    since,
    words: `cluster ${name} has not answered yet${since && `, since it was registered at ${since}`}`,
  };
}

/** The condition of a workload, and of its Placement, that is False while something of it is where nothing is heard of. */
export const clustersHeardType = 'ClustersHeard';

/** `which has not answered since ...`, after its name. */
export function whichIs({ words }: Silence): string {
  return words.replace(/^cluster \S+/, 'which');
}

/** By cluster the end of a sentence about it, `has not answered since ...`, as such conditions say it in `words`. */
export function silencesIn(conditions: readonly unknown[]): Map<string, string> {
  const said = conditions.find((one) => textAt(one, 'type') === clustersHeardType);
  const parts = textAt(said, 'status') === 'False' ? (textAt(said, 'message') ?? '').split('; ') : [];
  return new Map(
    parts.flatMap((part) => {
      const [, name, words] = /^cluster (\S+) (has not answered .*)$/.exec(part) ?? [];
      return name === undefined || words === undefined ? [] : [[name, words] as const];
    }),
  );
}
