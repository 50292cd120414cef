import { describe, expect, it } from 'vitest';
import type { Scale, Share } from '../../../cluster/types.ts';
import { follow, scaleOf, stamped } from '../../../splitter/follow.ts';
import type { Slices } from '../../../splitter/plan.ts';
import { deployment, placed } from '../cluster/objects.ts';

const scaler = { min: 2, max: 10 };
const share = (replicas: number, more: Partial<Share> = {}): Share => ({
  phase: 'Active',
  scaled: 1,
  replicas,
  ...more,
});
const says = (replicas: number, scaled = 1) => ({ present: true, share: { replicas, scaled } });
const scale = (replicas: number, clusters: string[], generation = 5): Scale => ({
  replicas,
  clusters,
  generation,
});

interface Case {
  root?: number;
  generation?: number;
  clusters?: string[];
  previous?: Record<string, Share>;
  slices?: Slices;
  scale?: Scale;
  kind?: string;
}

function followed(given: Case) {
  const { root = 4, generation = 5, clusters = ['a'], previous = {}, slices = {}, kind } = given;
  const metadata = { generation };
  const { object } =
    kind === undefined
      ? deployment('web', { replicas: root, metadata })
      : placed(kind, 'web', { metadata, spec: { replicas: root } });
  return follow({ root: object, scaler, clusters, previous, slices, scale: given.scale });
}
const numbers = (shares: Record<string, Share>) =>
  Object.fromEntries(Object.entries(shares).map(([c, s]) => [c, s.replicas]));

describe('follow', () => {
  it.each<[string, Case, number, boolean, Record<string, number>]>([
    ['a new workload: what the user wrote', { root: 4 }, 4, false, {}],
    ['fewer than the minimum', { root: 1 }, 2, false, {}],
    ['more than the maximum', { root: 30 }, 10, false, {}],
    ['none: it is switched off', { root: 0 }, 0, false, {}],
    [
      'what is there',
      { previous: { a: share(4) }, slices: { a: says(7) }, scale: scale(4, ['a']) },
      ...([7, true, { a: 7 }] as const),
    ],
    [
      'in two clusters',
      {
        clusters: ['a', 'b'],
        previous: { a: share(2), b: share(2) },
        slices: { a: says(6), b: says(1) },
        scale: scale(4, ['a', 'b']),
      },
      ...([7, true, { a: 6, b: 1 }] as const),
    ],
    [
      'a word of before the last setting does not count',
      { previous: { a: share(4, { scaled: 2 }) }, slices: { a: says(7) }, scale: scale(4, ['a']) },
      ...([4, true, { a: 4 }] as const),
    ],
    [
      'nor does one above the maximum',
      { previous: { a: share(4) }, slices: { a: says(2_000_000) }, scale: scale(4, ['a']) },
      ...([10, true, { a: 10 }] as const),
    ],
    [
      'nor that of one that joins, whose own number is kept',
      {
        clusters: ['b'],
        previous: { a: share(4), b: share(4, { phase: 'Joining' }) },
        slices: { a: says(4), b: says(2) },
        scale: scale(4, ['a']),
      },
      ...([4, false, { a: 4, b: 4 }] as const),
    ],
    [
      'growth in the middle of a move',
      {
        clusters: ['b'],
        previous: { a: share(4), b: share(4, { phase: 'Joining' }) },
        slices: { a: says(9), b: says(4) },
        scale: scale(4, ['a']),
      },
      ...([9, false, { a: 9, b: 4 }] as const),
    ],
    [
      'what is there twice is counted once',
      {
        clusters: ['b', 'c'],
        previous: { a: share(8), b: share(4), c: share(4, { phase: 'Joining' }) },
        slices: { a: says(8), b: says(4), c: says(0) },
        scale: scale(8, ['a']),
      },
      ...([8, false, { a: 8, b: 4, c: 4 }] as const),
    ],
    [
      'a move that was taken back: what is there twice is counted once',
      {
        clusters: ['a', 'b'],
        previous: { a: share(2), b: share(3, { phase: 'Joining', settled: { replicas: 1 } }) },
        slices: { a: says(2), b: says(3) },
        scale: scale(3, []),
      },
      ...([3, false, { a: 2, b: 3 }] as const),
    ],
    [
      'and growth meanwhile is what it changes',
      {
        clusters: ['a', 'b'],
        previous: { a: share(2), b: share(3) },
        slices: { a: says(4), b: says(3) },
        scale: scale(3, []),
      },
      ...([5, false, { a: 4, b: 3 }] as const),
    ],
    [
      'and what waits for its autoscaler’s minimum is what it is to have',
      {
        clusters: ['a', 'b'],
        previous: { a: share(1), b: share(3, { goal: { replicas: 2 } }) },
        slices: { a: says(1), b: says(3) },
        scale: scale(3, []),
      },
      ...([3, false, { a: 1, b: 2 }] as const),
    ],
    [
      'of what leaves, and is wanted again, nothing counts',
      {
        clusters: ['a', 'b'],
        previous: { a: share(2, { phase: 'Leaving' }), b: share(3) },
        slices: { a: says(2), b: says(3) },
        scale: scale(3, ['b']),
      },
      ...([3, false, { a: 2, b: 3 }] as const),
    ],
    [
      'somebody’s wish after it was taken back',
      {
        root: 6,
        generation: 6,
        clusters: ['a', 'b'],
        previous: { a: share(2), b: share(3) },
        slices: { a: says(2), b: says(3) },
        scale: scale(3, []),
      },
      ...([6, false, { a: 2, b: 3 }] as const),
    ],
    [
      'nowhere does it fit any longer, in the middle of a move: it stays where it is',
      {
        clusters: [],
        previous: { a: share(2), b: share(3, { phase: 'Joining', settled: { replicas: 1 } }) },
        slices: { a: says(2), b: says(3) },
        scale: scale(3, []),
      },
      ...([3, false, { a: 2, b: 3 }] as const),
    ],
    [
      'somebody’s wish, in proportion',
      {
        root: 4,
        generation: 6,
        clusters: ['a', 'b'],
        previous: { a: share(6), b: share(2) },
        slices: { a: says(6), b: says(2) },
        scale: scale(8, ['a', 'b']),
      },
      ...([4, true, { a: 3, b: 1 }] as const),
    ],
    [
      'somebody’s wish after none',
      {
        root: 4,
        generation: 6,
        clusters: ['a', 'b'],
        previous: { a: share(0), b: share(0) },
        slices: { a: says(0), b: says(0) },
        scale: scale(0, ['a', 'b']),
      },
      ...([4, true, { a: 2, b: 2 }] as const),
    ],
    [
      'somebody’s wish during a move changes what it moves to',
      {
        root: 3,
        generation: 6,
        clusters: ['b'],
        previous: { a: share(6), b: share(6, { phase: 'Joining' }) },
        slices: { a: says(6), b: says(6) },
        scale: scale(6, ['a']),
      },
      ...([3, false, { a: 6, b: 6 }] as const),
    ],
    [
      'another number of a root that is no newer is one that could not be written',
      { root: 4, previous: { a: share(7) }, slices: { a: says(7) }, scale: scale(7, ['a'], 5) },
      ...([7, true, { a: 7 }] as const),
    ],
  ])('%s', (_name, given, total, divided, replicas) => {
    const done = followed(given);
    expect(done.scaling).toEqual({ total, divided });
    expect(numbers(done.shares)).toEqual(replicas);
  });

  it('takes a wish of a StatefulSet from the end of its ordinals', () => {
    const done = followed({
      kind: 'StatefulSet',
      root: 3,
      generation: 6,
      clusters: ['a', 'b'],
      previous: { a: share(2, { ordinalsStart: 0 }), b: share(3, { ordinalsStart: 2 }) },
      slices: { a: says(2), b: says(3) },
      scale: scale(5, ['a', 'b']),
    });
    expect(done.shares).toMatchObject({
      a: { ordinalsStart: 0, replicas: 2 },
      b: { ordinalsStart: 2, replicas: 1 },
    });
  });

  it('without an autoscaler takes the mark off, and nothing else', () => {
    const { object } = deployment('web', { replicas: 4 });
    const previous = { a: share(6), b: share(2, { phase: 'Leaving' }) };
    const done = follow({
      root: object,
      scaler: undefined,
      clusters: ['a'],
      previous,
      slices: {},
      scale: undefined,
    });
    expect(done).toEqual({
      there: { a: { phase: 'Active', replicas: 6 }, b: previous.b },
      shares: { a: { phase: 'Active', replicas: 6 }, b: previous.b },
    });
  });
});

describe('stamped and scaleOf', () => {
  const there = { a: share(4), b: share(4, { scaled: 3 }), c: share(2, { phase: 'Leaving' }) };
  const of = { there, shares: there, scaling: { total: 9, divided: false } };

  it('has a number set only where it is another one than is there', () => {
    const next = { ...there, b: share(5, { scaled: 3 }), d: { phase: 'Joining', replicas: 1 } as const };
    const done = stamped(of, next);
    expect(Object.entries(done).map(([c, s]) => `${c} ${s.replicas} ${s.scaled}`)).toEqual([
      'a 4 1',
      'b 5 4',
      'c 2 1',
      'd 1 1',
    ]);
  });

  type Recorded = [string, Record<string, Share>, before: string[], after: string[]];
  it.each<Recorded>([
    ['all there', { a: share(4), b: share(5), c: share(9, { phase: 'Leaving' }) }, ['x'], ['a', 'b']],
    ['one joins', { a: share(4), b: share(5, { phase: 'Joining' }) }, ['x'], []],
    ['one has yet to shrink', { a: share(9), b: share(5) }, ['x'], []],
    ['one has yet to go', { a: share(3), b: share(5), d: share(1) }, ['x'], []],
    ['a move was taken back', { a: share(4), b: share(9, { phase: 'Joining' }) }, [], []],
    ['one failed where it is', { a: share(4), b: share(5, { phase: 'Joining' }) }, ['a', 'b'], ['a', 'b']],
  ])('tells over which clusters it is divided: %s', (_name, shares, before, after) => {
    expect(scaleOf(of, { shares, clusters: ['a', 'b'], before: scale(1, before), waitingFor: [] })).toEqual({
      replicas: 9,
      clusters: after,
    });
  });

  it('where it fits nowhere, is divided over where it is, as long as it was', () => {
    const shares = { a: share(4), b: share(9, { phase: 'Joining' }) };
    const recorded = (before: string[]) =>
      scaleOf(of, { shares, clusters: [], before: scale(1, before), waitingFor: [] });
    expect(recorded(['a', 'b'])?.clusters).toEqual(['a', 'b']);
    expect(recorded(['a'])?.clusters).toEqual([]);
  });
});
