import { describe, expect, test } from 'vitest';
import type { Resources } from '../../../cluster/pod-spec.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import type { Candidate } from '../../../scheduler/filter.ts';
import { best } from '../../../scheduler/score.ts';
import { take } from '../../../scheduler/take.ts';
import { cluster } from './world.ts';

/** Counts how often somebody looks into it. */
class Counted extends Map<string, ReturnType<typeof parseQuantity>> {
  static looks = 0;
  override get(key: string) {
    Counted.looks++;
    return super.get(key);
  }
}

const need: Resources = new Map([['cpu', parseQuantity('1')]]);

function place(name: string, cpu: number, fields: { cost?: number; shunned?: boolean } = {}): Candidate {
  const { cost, shunned } = fields;
  return {
    name,
    cluster: cluster(name, {
      capacity: { cpu: '100' },
      ...(cost !== undefined && { cost }),
      ...(shunned && { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }),
    }),
    now: 0,
    isThere: false,
    need,
    used: new Counted([
      ['cpu', parseQuantity(cpu)],
      ['pods', parseQuantity(cpu % 3)],
    ]),
  };
}

const names = (all: readonly Candidate[]) => all.map(({ name }) => name);

describe('the best', () => {
  const rest = new Map([
    ['d', 1],
    ['e', 1],
    ['f', 2],
  ]);
  const all = [
    place('a', 0),
    place('b', 90),
    place('c', 0, { shunned: true }),
    place('d', 50),
    place('e', 10),
    place('f', 99, { cost: 9 }),
  ];
  test.each([
    { most: 0, taken: [] },
    { most: 1, taken: ['f'] },
    { most: 2, taken: ['f', 'e'] },
    { most: 4, taken: ['f', 'e', 'd', 'a'] },
    { most: 5, taken: ['f', 'e', 'd', 'a', 'b'] },
  ])(
    '$most: those where the rest of the Namespace is first, then by what speaks for them',
    ({ most, taken }) => {
      expect(names(take(all, most, rest))).toEqual(taken);
    },
  );
});

/** One after the other, each the best of those that are left. */
function oneByOne(from: readonly Candidate[], most: number, rest: ReadonlyMap<string, number>): Candidate[] {
  const [left, taken] = [new Set(from), [] as Candidate[]];
  const ofRest = ({ name }: Candidate) => rest.get(name) ?? 0;
  while (taken.length < most && left.size > 0) {
    const highest = Math.max(...[...left].map(ofRest));
    const next = best([...left].filter((one) => ofRest(one) === highest)) as Candidate;
    taken.push(next);
    left.delete(next);
  }
  return taken;
}

test('so many at once are those that one after the other would be, in their order', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let history = 0; history < 200; history++) {
    const all = Array.from({ length: 2 + random(12) }, (_, i) =>
      place(`c-${(i * 7) % 13}-${i}`, random(4) * 30, { cost: random(3), shunned: random(4) === 0 }),
    );
    const rest = new Map(all.map(({ name }) => [name, random(3)]));
    const most = random(all.length);
    expect(names(take(all, most, rest))).toEqual(names(oneByOne(all, most, rest)));
  }
});

test.each([1, 100])('to take %i of a thousand each place is looked at as often as of a hundred', (most) => {
  const looks = (count: number) => {
    const all = Array.from({ length: count }, (_, i) => place(`c-${i}`, i % 90));
    Counted.looks = 0;
    expect(take(all, Math.min(most, count - 1), new Map())).toHaveLength(Math.min(most, count - 1));
    return Counted.looks / count;
  };
  expect(looks(1000)).toBe(looks(100));
});
