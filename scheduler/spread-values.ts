import type { PlacedSpread } from '../cluster/spread.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Candidate } from './filter.ts';
import type { Situation } from './judge.ts';
import { inRank } from './take.ts';

interface Around {
  situation: Pick<Situation, 'misfit'>;
  rest: ReadonlyMap<string, number>;
}

/**
 * The first `most` of them: those that are to have most come first; where nothing says it, those with a node for it, where the rest is,
 * or the best place. Only so many are compared with each other as are asked for.
 */
export function ofLargest(
  { replicas = {} }: Pick<PlacedSpread, 'replicas'>,
  heads: readonly (readonly [string, Candidate])[],
  { rest, situation: { misfit } }: Around,
  most: number,
): string[] {
  const values = new Map(heads.map(([value, candidate]) => [candidate, value]));
  const byCount = new Map<number, { fit: Candidate[]; others: Candidate[] }>();
  for (const [value, candidate] of heads) {
    const count = getOwn(replicas, value) ?? 0;
    const those = byCount.get(count) ?? { fit: [], others: [] };
    those[misfit?.(candidate.name) === undefined ? 'fit' : 'others'].push(candidate);
    byCount.set(count, those);
  }
  const ranked: string[] = [];
  for (const [, { fit, others }] of [...byCount].sort(([a], [b]) => b - a))
    for (const those of [fit, others])
      for (const candidate of inRank(those, most - ranked.length, rest))
        ranked.push(values.get(candidate) ?? '');
  return ranked;
}

/** To each in turn one more, as long as it has more. */
export function inTurns(
  total: number,
  values: readonly string[],
  most: (value: string) => number,
): Map<string, number> {
  const given = new Map(values.map((value) => [value, 0]));
  for (let left = total; left > 0; ) {
    const takers = values.filter((value) => (given.get(value) ?? 0) < most(value)).slice(0, left);
    // In a round each has one more than before; who had the fewest is never behind.
    if (takers.length === 0) break;
    for (const value of takers) given.set(value, (given.get(value) ?? 0) + 1);
    left -= takers.length;
  }
  return given;
}
