import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Model, ordinalsOf, settleMs } from './model.ts';

const names = ['a', 'b', 'c', 'd'];

/** Pods that were ready fail, clusters fall silent, are known to be, and come back. */
type Trouble = 'fail' | 'silence' | 'notice' | 'return';

type Step =
  | { do: 'place'; on: string[] }
  | { do: 'scale'; to: number }
  | { do: 'split' }
  | { do: 'apply' | 'progress' | 'report' | 'beat' | 'end' | Trouble; on: string }
  | { do: 'wait'; ms: number }
  | { do: 'settle' }
  | Round;

/** Everybody does what they can a few times, but for the pods of some; at the end those of another fail. */
interface Round {
  do: 'round';
  slow: string[];
  times: number;
  end: 'fail' | 'silence' | 'nothing';
}

const cluster = fc.constantFrom(...names);
const calm: fc.MaybeWeightedArbitrary<Step>[] = [
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('place' as const), on: fc.subarray(names, { minLength: 1 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('scale' as const), to: fc.integer({ min: 0, max: 9 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('split' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('apply' as const), on: cluster }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('progress' as const), on: cluster }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('report' as const), on: cluster }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(500, settleMs) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('beat' as const), on: cluster }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), on: cluster }) },
];
const placing = fc.subarray(names, { minLength: 1 });
const trouble = fc.record({
  do: fc.constantFrom<Trouble[]>('fail', 'fail', 'silence', 'notice', 'return', 'return'),
  on: cluster,
});
const round = fc.record({
  do: fc.constant('round' as const),
  slow: fc.subarray(names, { maxLength: 2 }),
  times: fc.integer({ min: 1, max: 4 }),
  end: fc.constantFrom<Round['end'][]>('fail', 'silence', 'nothing'),
});
const troubled = fc.oneof(...calm, { weight: 8, arbitrary: trouble }, { weight: 12, arbitrary: round });
/** Edits follow one another faster than clusters report, and each is decided about. */
const flapping = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('place' as const), on: placing }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('scale' as const), to: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('split' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('apply' as const), on: cluster }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('progress' as const, 'report' as const, 'end' as const),
      on: cluster,
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 3, arbitrary: trouble },
  { weight: 4, arbitrary: round },
);

function stepsOf({ slow, times, end }: Round): Step[] {
  const each = names.flatMap((on): Step[] => [
    { do: 'beat', on },
    { do: 'end', on },
    { do: 'apply', on },
    ...(slow.includes(on) ? [] : Array.from({ length: 9 }, (): Step => ({ do: 'progress', on }))),
    { do: 'report', on },
  ]);
  const once: Step[] = [{ do: 'split' }, ...each, { do: 'wait', ms: settleMs }];
  const all = Array.from({ length: times }, () => once).flat();
  const last = names.find((on) => !slow.includes(on));
  if (end === 'nothing' || last === undefined) return all;
  const fails = Array.from({ length: 9 }, (): Step => ({ do: 'fail', on: last }));
  return end === 'fail' ? [...all, ...fails] : [...all, { do: 'silence', on: last }, ...fails];
}

/** All answer once what is ready may count. */
const rest: Step[] = [{ do: 'wait', ms: settleMs }, ...names.map((on): Step => ({ do: 'beat', on }))];

function unfolded(steps: readonly Step[]): Step[] {
  return steps.flatMap((step): Step[] => {
    if (step.do === 'round') return stepsOf(step);
    return step.do === 'settle' ? [...rest, { do: 'split' }] : [step];
  });
}

function take(model: Model, s: Step): void {
  model.now += 1;
  switch (s.do) {
    case 'place':
      model.clusters = [...s.on].sort();
      return;
    case 'scale':
      model.scale(s.to);
      return;
    case 'round':
    case 'settle':
      throw new Error(`a ${s.do} is taken step by step`);
    case 'wait':
      model.now += s.ms;
      return;
    case 'split':
      model.split();
      return;
    case 'silence':
      model.silent.add(s.on);
      return;
    case 'return':
      model.silent.delete(s.on);
      return;
    default:
      model[s.do](s.on);
  }
}

/**
 * Replicas that no step of ours may take away: as many as were ready when all were, fewer only if asked for fewer or
 * if pods failed by themselves.
 */
function run(
  kind: string,
  start: number,
  first: string[],
  steps: readonly Step[],
  check: (m: Model) => void,
  drainMs = 0,
): Model {
  const model = new Model(kind, start);
  model.drainMs = drainMs;
  model.clusters = [...first].sort();
  model.quiesce(names);
  let promised = model.replicas;
  expect(model.ready).toBe(start);
  for (const s of unfolded(steps)) {
    take(model, s);
    promised = Math.min(promised, model.replicas);
    if (s.do === 'fail') promised = Math.min(promised, model.firm);
    expect(model.ready, `ready after ${JSON.stringify(s)}`).toBeGreaterThanOrEqual(promised);
    if (model.firm >= model.replicas) promised = model.replicas;
    check(model);
  }
  model.quiesce(names);
  return model;
}

const storyOf = (step: fc.Arbitrary<Step>) =>
  fc.tuple(
    fc.integer({ min: 0, max: 9 }),
    fc.subarray(names, { minLength: 1 }),
    fc.array(step, { minLength: 5, maxLength: 120 }),
  );
const story = storyOf(fc.oneof(...calm));

/** Two leave; the one whose pods failed while nothing was heard of it must not be what the other goes on. */
const silentLeaver: [number, string[], Step[]] = [
  2,
  ['a', 'c'],
  [
    { do: 'round', slow: [], times: 1, end: 'silence' },
    { do: 'progress', on: 'a' },
    { do: 'place', on: ['b', 'd'] },
    { do: 'round', slow: [], times: 3, end: 'fail' },
    { do: 'fail', on: 'd' },
    { do: 'split' },
    { do: 'apply', on: 'c' },
  ],
];

/** One leaves, whose pods failed while nothing was heard of it: it must not be what the one that stays shrinks on. */
const silentGiver: [number, string[], Step[]] = [
  4,
  ['b', 'c'],
  [
    { do: 'round', slow: ['a'], times: 1, end: 'silence' },
    { do: 'scale', to: 2 },
    { do: 'place', on: ['a', 'c'] },
    { do: 'fail', on: 'a' },
    { do: 'split' },
    { do: 'apply', on: 'c' },
  ],
];

/** One shrinks and is to be as before, and says nothing meanwhile: its word of before must not be what the others go on. */
const sameAgain: [number, string[], Step[]] = [
  3,
  ['c'],
  [
    { do: 'place', on: ['a', 'b', 'c'] },
    { do: 'round', slow: ['c'], times: 1, end: 'nothing' },
    { do: 'split' },
    ...rest,
    { do: 'split' },
    { do: 'apply', on: 'c' },
    { do: 'place', on: ['c'] },
    { do: 'split' },
    ...rest,
    { do: 'split' },
    ...rest,
    { do: 'split' },
    { do: 'apply', on: 'a' },
    { do: 'apply', on: 'b' },
  ],
];

/** Two have yet to settle as one of them is left, whose pod failed while nothing was heard of it: the other is not to shrink on its strength. */
const silentUnsettled: [number, string[], Step[]] = [
  0,
  ['c'],
  [
    { do: 'scale', to: 2 },
    { do: 'place', on: ['a', 'c'] },
    { do: 'round', slow: [], times: 1, end: 'silence' },
    { do: 'place', on: ['b', 'c'] },
    { do: 'split' },
    { do: 'scale', to: 1 },
    ...rest,
    { do: 'split' },
    { do: 'apply', on: 'c' },
  ],
];

describe('any sequence of edits, with syncers that lag', () => {
  it.each([
    [
      'where pods fail again and clusters fall silent, takes nothing on the strength of what is not there',
      troubled,
      1000,
    ],
    ['where edits follow one another faster than clusters report, takes nothing so either', flapping, 500],
  ])('%s', (_, story, numRuns) => {
    fc.assert(
      fc.property(storyOf(story), ([start, first, steps]) => {
        const drainMs = steps.length % 2 === 0 ? 3 * settleMs : 0;
        const model = run('Deployment', start, first, steps, () => {}, drainMs);
        expect(Object.keys(model.shares)).toEqual(model.clusters);
        expect(Object.values(model.shares).every((s) => s.phase === 'Active')).toBe(true);
        expect(model.ready).toBe(model.replicas);
      }),
      { numRuns, examples: [[silentLeaver], [silentGiver], [sameAgain], [silentUnsettled]] },
    );
  });

  it('never takes a Deployment below what was ready, nor above twice what is wanted, and converges', () => {
    fc.assert(
      fc.property(story, ([start, first, steps]) => {
        let peak = start;
        const model = run('Deployment', start, first, steps, (m) => {
          peak = Math.max(peak, m.replicas);
          expect(m.allowed).toBeLessThanOrEqual(2 * peak);
        });
        expect(Object.keys(model.shares)).toEqual(model.clusters);
        expect(Object.values(model.shares).every((s) => s.phase === 'Active')).toBe(true);
        expect(model.allowed).toBe(model.replicas);
        const sizes = Object.values(model.shares).map((s) => s.replicas ?? 0);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect([...model.copies.keys()].sort()).toEqual(model.clusters);
        expect(model.ready).toBe(model.replicas);
      }),
      { numRuns: 400 },
    );
  });

  it('never runs an ordinal of a StatefulSet in two places, and ends with each exactly once', () => {
    fc.assert(
      fc.property(storyOf(troubled), ([start, first, steps]) => {
        const model = new Model('StatefulSet', start);
        model.clusters = [...first].sort();
        model.quiesce(names);
        for (const s of unfolded(steps)) {
          take(model, s);
          expect(model.doubled, JSON.stringify(s)).toEqual([]);
        }
        model.quiesce(names);
        expect(Object.keys(model.shares)).toEqual(model.clusters);
        const ordinals = Object.values(model.shares).flatMap(ordinalsOf);
        expect(ordinals.sort((x, y) => x - y)).toEqual(Array.from({ length: model.replicas }, (_, i) => i));
        expect(model.ready).toBe(model.replicas);
        expect(Object.values(model.shares).every((s) => s.held === undefined && s.goal === undefined)).toBe(
          true,
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('takes a StatefulSet away one by one: at most one is down for a move', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), placing, placing, (replicas, from, to) => {
        const model = new Model('StatefulSet', replicas);
        model.clusters = [...from].sort();
        model.quiesce(names);
        model.clusters = [...to].sort();
        for (const s of Array.from({ length: 60 }, () =>
          stepsOf({ do: 'round', slow: [], times: 1, end: 'nothing' }),
        ).flat()) {
          take(model, s);
          expect(model.ready).toBeGreaterThanOrEqual(replicas - 1);
        }
        expect(Object.keys(model.shares)).toEqual(model.clusters);
      }),
      { numRuns: 100 },
    );
  });

  it('never runs more of a Deployment that is recreated than it has', () => {
    fc.assert(
      fc.property(storyOf(troubled), ([start, first, steps]) => {
        const model = new Model('Deployment', start, { strategy: { type: 'Recreate' } });
        model.clusters = [...first].sort();
        model.quiesce(names);
        let most = start;
        for (const s of unfolded(steps)) {
          take(model, s);
          most = Math.max(most, model.replicas);
          expect(model.pods, JSON.stringify(s)).toBeLessThanOrEqual(most);
        }
        model.quiesce(names);
        expect(Object.keys(model.shares)).toEqual(model.clusters);
        expect(model.ready).toBe(model.replicas);
      }),
      { numRuns: 500 },
    );
  });

  it('takes a deleted object away from everywhere', () => {
    fc.assert(
      fc.property(story, ([start, first, steps]) => {
        const model = run('Deployment', start, first, steps, () => {});
        model.deleted = true;
        model.clusters = [];
        model.quiesce(names);
        expect(model.shares).toEqual({});
        expect(model.copies.size).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('never lets a CronJob run in two places, and ends with one that runs', () => {
    fc.assert(
      fc.property(story, ([, first, steps]) => {
        const model = new Model('CronJob', 1);
        model.clusters = [...first].sort();
        model.quiesce(names);
        for (const s of steps.filter((each) => each.do !== 'scale')) {
          take(model, s);
          expect(model.running.length, JSON.stringify(s)).toBeLessThanOrEqual(1);
        }
        model.quiesce(names);
        expect([...model.copies.keys()].sort()).toEqual(model.clusters);
        expect(model.running).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});
