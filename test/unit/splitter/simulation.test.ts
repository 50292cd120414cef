import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Model, ordinalsOf, settleMs } from './model.ts';

const names = ['a', 'b', 'c', 'd'];

type Step =
  | { do: 'place'; on: string[] }
  | { do: 'scale'; to: number }
  | { do: 'split' }
  | { do: 'apply' | 'progress' | 'report'; on: string }
  | { do: 'wait'; ms: number };

const cluster = fc.constantFrom(...names);
const step: fc.Arbitrary<Step> = fc.oneof(
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
);

function take(model: Model, s: Step): void {
  switch (s.do) {
    case 'place':
      model.clusters = [...s.on].sort();
      return;
    case 'scale':
      model.scale(s.to);
      return;
    case 'wait':
      model.now += s.ms;
      return;
    case 'split':
      model.split();
      return;
    default:
      model[s.do](s.on);
  }
}

/** Replicas that no step may take away: as many as were ready when all were, fewer only if asked for fewer. */
function run(
  kind: string,
  start: number,
  first: string[],
  steps: readonly Step[],
  check: (m: Model) => void,
): Model {
  const model = new Model(kind, start);
  model.clusters = [...first].sort();
  model.quiesce(names);
  let promised = model.replicas;
  expect(model.ready).toBe(start);
  for (const s of steps) {
    take(model, s);
    promised = Math.min(promised, model.replicas);
    expect(model.ready, `ready after ${JSON.stringify(s)}`).toBeGreaterThanOrEqual(promised);
    if (model.firm >= model.replicas) promised = model.replicas;
    check(model);
  }
  model.quiesce(names);
  return model;
}

const story = fc.tuple(
  fc.integer({ min: 0, max: 9 }),
  fc.subarray(names, { minLength: 1 }),
  fc.array(step, { minLength: 5, maxLength: 120 }),
);

describe('any sequence of edits, with syncers that lag', () => {
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

  it('never takes a StatefulSet below what was ready, and ends with every ordinal exactly once', () => {
    fc.assert(
      fc.property(story, ([start, first, steps]) => {
        const model = run('StatefulSet', start, first, steps, () => {});
        expect(Object.keys(model.shares)).toEqual(model.clusters);
        const ordinals = Object.values(model.shares).flatMap(ordinalsOf);
        expect(ordinals.sort((x, y) => x - y)).toEqual(Array.from({ length: model.replicas }, (_, i) => i));
        expect(model.ready).toBe(model.replicas);
      }),
      { numRuns: 300 },
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
