import { getOwn } from '../kube/untyped.ts';
import { endingWords } from './filter.ts';
import type { Choice } from './judge.ts';
import type { Scene } from './scene.ts';
import { evictingOf } from './tolerations.ts';
import type { Decided } from './types.ts';
import { tolerationsOf, type Wish } from './wishes.ts';

/** What has ended is decided already. */
export function endOfStay({ clusters, listened, input: { now } }: Scene, { choice, wish }: Decided): number {
  const tolerations = tolerationsOf(wish);
  const ends = choice.clusters.flatMap((name) => {
    const cluster = clusters.get(name);
    const until = cluster && evictingOf(cluster, tolerations, listened)?.until;
    return until !== undefined && until > now ? [until] : [];
  });
  return Math.min(Number.POSITIVE_INFINITY, ...ends);
}

/** With until when it is tolerated where it is, for the record. */
export function withEnds(
  choice: Choice,
  { clusters, listened, input: { now } }: Scene,
  wish: Wish | undefined,
): Choice {
  const tolerations = tolerationsOf(wish);
  const ends = choice.clusters.flatMap((name) => {
    const words = endingWords({ cluster: clusters.get(name), tolerations, now, listened });
    return words === undefined
      ? []
      : [[name, [getOwn(choice.reasons, name), words].filter(Boolean).join('; ')]];
  });
  return ends.length === 0
    ? choice
    : { ...choice, reasons: { ...choice.reasons, ...Object.fromEntries(ends) } };
}
