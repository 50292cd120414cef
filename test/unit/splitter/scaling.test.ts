import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterSlice, Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import { autoscalerBounds, type Bounds, scalerOf, scaleTarget } from '../../../splitter/autoscaler.ts';
import { split } from '../../../splitter/split.ts';
import { deployment, placed } from '../cluster/objects.ts';

const settleMs = 2000;
const names = ['a', 'b', 'c'];

interface Copy {
  replicas: number;
  ready: number;
  /** How often its replicas had been set from above, as the physical object is marked. */
  scaled: number | undefined;
  generation: number;
  /** Since when its share holds more than it has. */
  heldSince: string | undefined;
  /** Of ordinals, the first. */
  start: number | undefined;
}

/** How it moves: what is alike beside what leaves, what may not run twice after it has stopped, ordinals one by one. */
const ways = ['rolling', 'once', 'ordinals'] as const;
type Way = (typeof ways)[number];

/** Physical clusters with an autoscaler each, syncers that lag, and one splitter, driven step by step. */
class World {
  now = 1_000_000;
  replicas: number;
  generation = 1;
  clusters: string[] = [];
  spec: Pick<PlacementSpec, 'shares' | 'scale'> = {};
  slices: Record<string, ClusterSlice> = {};
  readonly copies = new Map<string, Copy>();
  /** What the autoscaler of each was told last. */
  readonly told = new Map<string, Bounds>();
  /** Where it takes no others than it has. */
  readonly refusing = new Set<string>();
  /** What the metrics in each cluster ask for; of one that is not named, what is there. */
  readonly load = new Map<string, number>(names.map((c) => [c, 3]));
  readonly hpa;
  /** Of whether it is settled. */
  says = '';
  readonly way: Way;

  constructor(
    replicas: number,
    { minReplicas, maxReplicas, way }: { minReplicas: number; maxReplicas: number; way: Way },
  ) {
    this.replicas = replicas;
    this.way = way;
    this.hpa = placed('HorizontalPodAutoscaler', 'web', { spec: { minReplicas, maxReplicas } }).object;
  }

  get placement(): Placement {
    const { group, version, resource, kind } = this.#workload.kind;
    const ref = { group, version, resource, kind, name: 'web', uid: 'web' };
    return {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'Placement',
      metadata: { name: 'p' },
      spec: { ref, clusters: this.clusters, ...this.spec },
      status: { clusters: this.slices },
    };
  }

  get root() {
    return this.#workload.object;
  }

  get #workload() {
    const { replicas, generation, way } = this;
    const metadata = { generation, uid: 'web' };
    if (way === 'ordinals') return placed('StatefulSet', 'web', { metadata, spec: { replicas } });
    const { kind, object } = deployment('web', { replicas, metadata });
    const strategy = { type: 'Recreate' };
    return way === 'rolling'
      ? { kind, object }
      : { kind, object: { ...object, spec: { ...(object.spec as object), strategy } } };
  }

  split(): void {
    const { now } = this;
    const heard = { isKnown: () => true, heardAt: () => now, now, settleMs };
    const { placement, root, slices } = this;
    const toldAt = (c: string) => {
      const told = this.told.get(c);
      return told && { ...told, refuses: this.refusing.has(c) };
    };
    const done = split({ ...heard, placement, root, scaler: scalerOf(this.hpa), toldAt });
    const total = done.scale?.replicas ?? 0;
    this.says = done.conditions.find(({ type }) => type === 'Settled')?.message ?? '';
    for (const [c, { phase }] of this.way === 'rolling' ? Object.entries(done.shares) : []) {
      if (phase !== 'Leaving' || this.spec.shares?.[c]?.phase !== 'Active') continue;
      const staying = names.filter((n) => ['Active', 'Joining'].includes(done.shares[n]?.phase ?? ''));
      const available = staying.map((n) => Number(slices[n]?.status?.['availableReplicas'] ?? 0));
      expect(
        available.reduce((sum, n) => sum + n, 0),
        `as ${c} leaves`,
      ).toBeGreaterThanOrEqual(total);
    }
    if (this.way === 'rolling') this.#looksAgain(done.shares, total);
    if (this.replicas !== total) {
      this.replicas = total;
      this.generation++;
    }
    const scale = done.scale && { ...done.scale, generation: this.generation };
    this.spec = { shares: done.shares, ...(scale && { scale }) };
    this.slices = Object.fromEntries(Object.entries(slices).filter(([c]) => !done.stale.includes(c)));
  }

  /**
   * Who waited for its autoscaler's minimum, and shrinks now, leaves as many available as the whole is to have, or as there were:
   * of all that stay, and of those of them that had settled. One that joins anew goes on being counted on for what it had
   * before, and for no more, until it has settled again.
   */
  #looksAgain(shares: Record<string, Share>, total: number): void {
    const before = this.spec.shares ?? {};
    const late = names.filter((c) => {
      const [was, is] = [before[c], shares[c]];
      const waited = was?.goal !== undefined && is !== undefined && is.goal === undefined;
      return waited && is.phase !== 'Leaving' && (is.replicas ?? 0) < (was.replicas ?? 0);
    });
    if (late.length === 0) return;
    const staying = names.filter((c) => shares[c] !== undefined && shares[c].phase !== 'Leaving');
    const settledOf = (c: string) => {
      if (before[c]?.phase === 'Active') return Number.POSITIVE_INFINITY;
      return (shares[c]?.phase === 'Active' ? shares[c].replicas : shares[c]?.settled?.replicas) ?? 0;
    };
    for (const [what, most] of [
      ['available', () => Number.POSITIVE_INFINITY],
      ['settled', settledOf],
    ] as const) {
      const of = (c: string, replicas = 0) =>
        Math.min(replicas, most(c), Number(this.slices[c]?.status?.['availableReplicas'] ?? 0));
      const had = staying.reduce((n, c) => n + of(c, (late.includes(c) ? before : shares)[c]?.replicas), 0);
      const has = staying.reduce((n, c) => n + of(c, shares[c]?.replicas), 0);
      expect(has, `${what}, as ${late} shrink`).toBeGreaterThanOrEqual(Math.min(total, had));
    }
  }

  /** One that was ready is not any more. */
  fail(c: string): void {
    const copy = this.copies.get(c);
    if (copy && copy.ready > 0) copy.ready--;
  }

  /** The syncer: sets replicas once for each time that it is told to. */
  apply(c: string): void {
    const share: Share | undefined = this.spec.shares?.[c];
    if (!share) return;
    if (share.phase === 'Leaving') {
      this.copies.delete(c);
      return;
    }
    const before = this.copies.get(c);
    const keeps = before !== undefined && before.scaled === share.scaled;
    const replicas = keeps ? before.replicas : (share.replicas ?? 1);
    const ready = Math.min(before?.ready ?? 0, replicas);
    const { scaled, ordinalsStart: start } = share;
    const heldSince = share.held?.since;
    this.copies.set(c, { replicas, ready, scaled, heldSince, start, generation: this.generation });
  }

  /** The autoscaler of `c` gets its bounds as they are now; it goes where its target goes. */
  tell(c: string): void {
    if (this.refusing.has(c)) return;
    // It goes along wherever its target is.
    const along = [...new Set([...this.clusters, ...Object.keys(this.spec.shares ?? {})])].sort();
    const all = autoscalerBounds(this.hpa, along, scaleTarget(this.root, this.placement));
    const bounds = all.get(c);
    if (bounds) this.told.set(c, bounds);
    else if (!this.copies.has(c)) this.told.delete(c);
  }

  autoscale(c: string): void {
    const copy = this.copies.get(c);
    const bounds = this.told.get(c);
    if (!copy || copy.replicas === 0 || !bounds) return;
    const least = Math.max(1, bounds.replicas);
    const most = Math.max(least, bounds.maxReplicas);
    const asked = bounds.suspend ? copy.replicas : (this.load.get(c) ?? copy.replicas);
    copy.replicas = Math.max(least, Math.min(most, asked));
    copy.ready = Math.min(copy.ready, copy.replicas);
  }

  /** No ordinal runs twice, whatever autoscalers do. */
  seeOrdinals(what: string): void {
    if (this.way !== 'ordinals') return;
    const all = [...this.copies.values()].flatMap(({ replicas, start = 0 }) =>
      Array.from({ length: replicas }, (_, i) => start + i),
    );
    expect(new Set(all).size, `${what}: ${all}`).toBe(all.length);
  }

  progress(c: string): void {
    const copy = this.copies.get(c);
    if (copy && copy.ready < copy.replicas) copy.ready++;
  }

  report(c: string): void {
    const share = this.spec.shares?.[c];
    if (!share) return;
    const copy = this.copies.get(c);
    if (!copy) {
      this.slices = { ...this.slices, [c]: { present: false } };
      return;
    }
    const { ready, replicas, scaled, heldSince, start, generation } = copy;
    const status = { replicas, readyReplicas: ready, updatedReplicas: ready, availableReplicas: ready };
    const said = {
      replicas,
      ...(scaled !== undefined && { scaled }),
      ...(start !== undefined && { ordinalsStart: start }),
    };
    const ordinals = start !== undefined && { ordinals: { start, end: start + replicas } };
    const pods = heldSince !== undefined && { pods: { since: heldSince, count: replicas, ...ordinals } };
    this.slices = {
      ...this.slices,
      [c]: { present: true, observedGeneration: generation, share: said, status, ...pods },
    };
  }

  quiesce(rounds: number): void {
    for (let i = 0; i < rounds; i++) {
      this.split();
      for (const c of names) {
        this.apply(c);
        this.tell(c);
        this.autoscale(c);
        for (let pod = 0; pod < 20; pod++) this.progress(c);
        this.report(c);
      }
      this.now += settleMs;
    }
  }

  /** Somebody's `kubectl scale`. */
  scale(to: number): void {
    if (to === this.replicas) return;
    this.replicas = to;
    this.generation++;
  }
}

type Step =
  | { do: 'place'; on: string[] }
  | { do: 'scale'; to: number }
  | { do: 'wait'; to: number }
  | { do: 'load'; on: string; to: number }
  | { do: 'split' }
  | { do: 'apply' | 'tell' | 'autoscale' | 'progress' | 'report' | 'fail'; on: string };

const on = fc.constantFrom(...names);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('place' as const), on: fc.subarray(names, { minLength: 1 }) }),
  fc.record({ do: fc.constant('scale' as const), to: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ do: fc.constant('load' as const), on, to: fc.integer({ min: 0, max: 14 }) }),
  fc.record({ do: fc.constant('wait' as const), to: fc.constantFrom(500, settleMs) }),
  { weight: 6, arbitrary: fc.record({ do: fc.constant('split' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fail' as const), on }),
  },
  {
    weight: 25,
    arbitrary: fc.record({ do: fc.constantFrom('apply', 'tell', 'autoscale', 'progress', 'report'), on }),
  },
);

function take(world: World, s: Step): void {
  if (s.do === 'place') world.clusters = [...s.on].sort();
  else if (s.do === 'scale') world.scale(s.to);
  else if (s.do === 'wait') world.now += s.to;
  else if (s.do === 'load') world.load.set(s.on, s.to);
  else if (s.do === 'split') world.split();
  else world[s.do](s.on);
  world.seeOrdinals(JSON.stringify(s));
}

it('any sequence of loads, moves and scales: nobody leaves too early, and the autoscalers have the last word', () => {
  const start = fc.record({
    replicas: fc.integer({ min: 1, max: 9 }),
    min: fc.integer({ min: 1, max: 4 }),
    way: fc.constantFrom(...ways),
  });
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 100 }), ({ replicas, min, way }, steps) => {
      const max = 12;
      const world = new World(replicas, { minReplicas: min, maxReplicas: max, way });
      world.clusters = ['a'];
      world.quiesce(6);
      for (const s of steps) take(world, s);
      world.quiesce(60);
      const numbers = () => [...world.copies].map(([c, copy]) => `${c}=${copy.replicas}`).sort();
      const settings = () => Object.entries(world.spec.shares ?? {}).map(([c, s]) => `${c} ${s.scaled}`);
      const before = { numbers: numbers(), settings: settings() };
      world.quiesce(5);
      expect({ numbers: numbers(), settings: settings() }).toEqual(before);
      expect(Object.keys(world.spec.shares ?? {})).toEqual(world.clusters);
      expect(world.spec.scale?.clusters).toEqual(world.clusters);
      const sum = [...world.copies.values()].reduce((all, copy) => all + copy.replicas, 0);
      expect(world.replicas).toBe(sum);
      expect(sum).toBeGreaterThanOrEqual(min);
      expect(sum).toBeLessThanOrEqual(max);
    }),
    {
      numRuns: 300,
      examples: [
        [{ replicas: 1, min: 1, way: 'ordinals' }, [{ do: 'place', on: ['b', 'c'] }]],
        // Its autoscaler adds some before it hears that it is to do nothing, and its user asks for as many.
        [
          { replicas: 1, min: 1, way: 'ordinals' },
          [
            { do: 'place', on: ['c'] },
            { do: 'load', on: 'a', to: 4 },
            { do: 'split' },
            { do: 'autoscale', on: 'a' },
            { do: 'scale', to: 4 },
            { do: 'tell', on: 'a' },
            { do: 'split' },
            { do: 'apply', on: 'c' },
          ],
        ],
      ],
    },
  );
});

interface Moves {
  replicas: number;
  min: number;
  way?: Way;
  /** Where it is to be: first of all, and as the steps say. */
  between: readonly string[][];
  steps: readonly (Step | { do: 'move'; to: number })[];
}

/** As many as before in the end, and never fewer meanwhile than there may be. */
function takenBack({ replicas, min, way = 'rolling', between, steps }: Moves): void {
  const world = new World(replicas, { minReplicas: min, maxReplicas: 30, way });
  world.load.clear();
  world.clusters = [...(between[0] ?? names)];
  world.quiesce(6);
  for (const s of steps)
    if (s.do === 'move') world.clusters = [...(between[s.to % between.length] ?? names)];
    else take(world, s);
  world.quiesce(way === 'ordinals' ? 60 : 20);
  expect(Object.keys(world.spec.shares ?? {})).toEqual(world.clusters);
  expect(world.spec.scale?.clusters).toEqual(world.clusters);
  const parts = [...world.copies.values()].map((copy) => copy.replicas);
  const sum = parts.reduce((all, n) => all + n, 0);
  expect({ root: world.replicas, sum }).toEqual({ root: replicas, sum: replicas });
  if (replicas >= parts.length) expect(Math.min(...parts), 'all of them have some').toBeGreaterThan(0);
}

it('any sequence of moves that are taken back, and back again: as many as before, where no autoscaler asks for others', () => {
  const start = fc
    .record({
      replicas: fc.integer({ min: 3, max: 9 }),
      min: fc.integer({ min: 1, max: 9 }),
      way: fc.constantFrom(...ways),
    })
    .map(({ replicas, min, way }) => ({ replicas, min: Math.min(min, replicas), way }));
  const places = fc.array(fc.subarray(names, { minLength: 1 }), { minLength: 2, maxLength: 4 });
  const moving = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), to: fc.nat(3) }) },
    { weight: 20, arbitrary: step.filter((s) => !['place', 'scale', 'load'].includes(s.do)) },
  );
  const moves = fc.array(moving, { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(start, places, moves, (from, between, steps) => takenBack({ ...from, between, steps })),
    { numRuns: 100 },
  );
});

describe('a StatefulSet that an autoscaler scales', () => {
  /** How many were ready at the worst, each step of the way; no pod is made that it never had. */
  function moved(world: World, clusters: string[], first: 'apply' | 'tell' = 'apply'): number {
    world.clusters = clusters;
    const total = world.replicas;
    const then = first === 'apply' ? 'tell' : 'apply';
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 60; round++) {
      world.split();
      for (const c of names) {
        for (const what of [first, 'autoscale', then, 'autoscale', 'report', 'progress'] as const) {
          world[what](c);
          world.seeOrdinals(`${what} ${c}`);
          const ready = [...world.copies.values()].reduce((sum, copy) => sum + copy.ready, 0);
          least = Math.min(least, ready);
          const ends = [...world.copies].map(
            ([at, { start = 0, replicas }]) => [at, start + replicas] as const,
          );
          expect(
            ends.filter(([, end]) => end > total),
            `${what} ${c}`,
          ).toEqual([]);
        }
      }
      world.now += settleMs / 2;
    }
    return least;
  }

  const started = () => {
    const world = new World(3, { minReplicas: 3, maxReplicas: 5, way: 'ordinals' });
    world.clusters = ['a'];
    world.quiesce(6);
    return world;
  };

  it.each([[['b']], [['a', 'b']]])(
    'and that has little to do, is one short at most on its way to %s',
    (to) => {
      const world = started();
      for (const c of names) world.load.set(c, 0);
      expect(moved(world, to)).toBe(2);
      expect(Object.keys(world.spec.shares ?? {})).toEqual(to);
      expect(world.replicas).toBe(3);
    },
  );

  it.each<[string, number | undefined, 'apply' | 'tell']>([
    ['has little to do, and hears of it first', 0, 'tell'],
    ['has little to do, and hears of it last', 0, 'apply'],
    ['has much to do, and hears of it first', 9, 'tell'],
    ['has much to do, and hears of it last', 9, 'apply'],
  ])('on two clusters, where each autoscaler %s, leaves both one by one', (_, load, first) => {
    const world = new World(6, { minReplicas: 6, maxReplicas: 6, way: 'ordinals' });
    for (const c of names) world.load.delete(c);
    world.clusters = ['a', 'b'];
    world.quiesce(20);
    if (load !== undefined) for (const c of names) world.load.set(c, load);
    expect(moved(world, ['c'], first)).toBe(5);
    world.quiesce(10);
    expect(Object.keys(world.spec.shares ?? {})).toEqual(['c']);
  });

  it('what its autoscaler added as it was told to be still is undone, before another cluster is given that', () => {
    const world = new World(3, { minReplicas: 1, maxReplicas: 9, way: 'ordinals' });
    for (const c of names) world.load.delete(c);
    world.clusters = ['a'];
    world.quiesce(6);
    world.clusters = ['a', 'b'];
    world.split();
    world.load.set('a', 5);
    world.autoscale('a');
    world.report('a');
    world.scale(5);
    world.quiesce(40);
    expect(world.replicas).toBe(5);
    expect([...world.copies.values()].map(({ replicas }) => replicas).sort()).toEqual([2, 3]);
  });

  it('on two clusters, where one takes no other bounds, stays whole: what the other gave up could start nowhere', () => {
    const world = new World(6, { minReplicas: 6, maxReplicas: 6, way: 'ordinals' });
    for (const c of names) world.load.delete(c);
    world.clusters = ['a', 'b'];
    world.quiesce(20);
    world.refusing.add('b');
    for (const to of [['c'], ['b', 'c']]) {
      expect(moved(world, to)).toBe(6);
      expect(world.says).toContain('stays on b while its autoscaler takes no other bounds there');
    }
    world.refusing.clear();
    expect(moved(world, ['c'])).toBe(5);
    world.quiesce(10);
    expect(Object.keys(world.spec.shares ?? {})).toEqual(['c']);
  });

  it('scaled to none on its way, holds nothing any more: who takes its data along would wait for that', () => {
    const world = started();
    world.clusters = ['a', 'b'];
    world.split();
    world.scale(0);
    world.quiesce(10);
    const shares = Object.entries(world.spec.shares ?? {});
    expect(shares.map(([c, { replicas, held }]) => [c, replicas, held])).toEqual([
      ['a', 0, undefined],
      ['b', 0, undefined],
    ]);
  });

  it('stays where that one takes no other bounds, which would put back what another runs', () => {
    const world = started();
    world.refusing.add('a');
    expect(moved(world, ['b'])).toBe(3);
    expect(world.says).toContain('stays on a while its autoscaler takes no other bounds there');
    world.refusing.clear();
    expect(moved(world, ['b'])).toBe(2);
    expect(Object.keys(world.spec.shares ?? {})).toEqual(['b']);
  });
});

const move = (to: number): Moves['steps'] => [{ do: 'move', to }];
const told = (c: string): Moves['steps'] => [{ do: 'tell', on: c }];
const applied = (c: string): Moves['steps'] => [{ do: 'apply', on: c }];
const reported = (c: string): Moves['steps'] => [{ do: 'report', on: c }];
const threeTimes = (what: 'progress' | 'fail', c: string): Moves['steps'] =>
  Array.from({ length: 3 }, () => ({ do: what, on: c }));
const grown = (c: string) => [applied(c), threeTimes('progress', c), reported(c)].flat();
const failed = (c: string) => [threeTimes('fail', c), reported(c)].flat();
const divided: Moves['steps'] = [{ do: 'split' }];
const settled: Moves['steps'] = [{ do: 'split' }, { do: 'wait', to: settleMs }, { do: 'split' }];

it.each<[string, Omit<Moves, 'steps'>, Moves['steps'][]]>([
  [
    'one of two that had grown has settled again, and the other has what it had before',
    { replicas: 6, min: 1, between: [names, ['a', 'b']] },
    [move(1), divided, grown('b'), applied('a'), divided, reported('a'), move(0), told('a'), told('b')],
  ],
  [
    'what has failed is not made up for by what has only just become available',
    { replicas: 6, min: 6, between: [['a'], ['a', 'c'], ['a', 'b'], names] },
    [
      [move(1), divided, grown('c'), settled],
      [move(2), divided, told('b'), grown('b'), move(3), divided, told('a'), told('b')],
      [failed('c'), divided],
    ].map((part) => part.flat()),
  ],
  [
    'an autoscaler is there before what it scales',
    { replicas: 3, min: 1, between: [['b'], ['b', 'c'], ['a', 'b']] },
    [move(2), divided, move(1), told('c'), divided, applied('c'), [{ do: 'autoscale', on: 'c' }]],
  ],
  [
    'what may not run twice waits for the minimum of its autoscaler',
    { replicas: 5, min: 4, way: 'once', between: [['a'], ['a', 'b']] },
    [move(1)],
  ],
  [
    'what may not run twice is to be on two more',
    { replicas: 3, min: 2, way: 'once', between: [['c'], names] },
    [move(1)],
  ],
])('moves that are taken back, where %s', (_, from, steps) => takenBack({ ...from, steps: steps.flat() }));
