import type { Candidate } from './filter.ts';
import { best } from './score.ts';
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
  const taken: Candidate[] = [];
  const left = new Set(from);
  const ofRest = ({ name }: Candidate) => rest.get(name) ?? 0;
  while (taken.length < most) {
    const highest = Math.max(...[...left].map(ofRest));
    const next = best([...left].filter((candidate) => ofRest(candidate) === highest));
    if (!next) break;
    taken.push(next);
    left.delete(next);
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
