import type { Candidate } from './filter.ts';
import { best, ranked } from './score.ts';
import type { Wish } from './wishes.ts';

/** Those of the first groups first; without groups all are of one. */
export function takeInOrder(
  from: readonly Candidate[],
  most: number,
  { rest, groups }: { rest: ReadonlyMap<string, number>; groups: NonNullable<Wish['groups']> },
): Candidate[] {
  const ordered = groups.map((group) => from.filter(({ name }) => group.includes(name)));
  const taken: Candidate[] = [];
  for (const group of groups.length > 0 ? ordered : [from])
    taken.push(...take(group, most - taken.length, rest));
  return taken;
}

/** The `most` best: those where most of the rest of the Namespace is come first. */
export function take(
  from: readonly Candidate[],
  most: number,
  rest: ReadonlyMap<string, number>,
): Candidate[] {
  if (from.length <= most) return [...from];
  const byRest = new Map<number, Candidate[]>();
  for (const candidate of from) {
    const others = rest.get(candidate.name) ?? 0;
    const same = byRest.get(others);
    if (same) same.push(candidate);
    else byRest.set(others, [candidate]);
  }
  const taken: Candidate[] = [];
  for (const [, those] of [...byRest].sort(([a], [b]) => b - a)) {
    const left = most - taken.length;
    if (left <= 0) break;
    const [first] = left === 1 ? [best(those)] : [];
    taken.push(...(first ? [first] : ranked(those, left)));
  }
  return taken;
}

/** The same, in their order also where all of them are taken. */
export function inRank(
  from: readonly Candidate[],
  most: number,
  rest: ReadonlyMap<string, number>,
): Candidate[] {
  const taken = take(from, Math.min(most, from.length - 1), rest);
  return taken.length < most ? [...taken, ...from.filter((one) => !taken.includes(one))] : taken;
}
