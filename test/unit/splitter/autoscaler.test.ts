import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Share } from '../../../cluster/types.ts';
import { autoscalerBounds, type ScaleTarget, targetOf } from '../../../splitter/autoscaler.ts';
import { handover } from '../../../splitter/handover.ts';
import { placed } from '../cluster/objects.ts';

const autoscaler = (spec: object) =>
  placed('HorizontalPodAutoscaler', 'web', { metadata: { generation: 1 }, spec }).object;
type Held = number | [number, Share['phase']];
/** Divided already; otherwise `moving`. */
const target = (total: number, held: Record<string, Held>): ScaleTarget => ({
  total,
  shares: new Map(
    Object.entries(held).map(([c, of]) => {
      const [replicas, phase] = typeof of === 'number' ? [of, 'Active' as const] : of;
      return [c, { replicas, phase }];
    }),
  ),
  wanted: Object.keys(held),
  divided: true,
  ranges: false,
});
const moving = (total: number, held: Record<string, Held>, wanted: string[]) => ({
  ...target(total, held),
  wanted,
  divided: false,
});

type Part = [least: number, most: number, is?: 'suspended'];
const boundsOf = (spec: object, clusters: string[], of: ScaleTarget | undefined) =>
  Object.fromEntries(
    [...autoscalerBounds(autoscaler(spec), clusters, of)].map(([c, b]): [string, Part] => [
      c,
      b.suspend ? [b.replicas, b.maxReplicas, 'suspended'] : [b.replicas, b.maxReplicas],
    ]),
  );

describe('autoscalerBounds', () => {
  it.each<[string, object, string[], ScaleTarget | undefined, Record<string, Part>]>([
    [
      'one cluster has the whole',
      { minReplicas: 3, maxReplicas: 9 },
      ['a'],
      target(4, { a: 4 }),
      { a: [3, 9] },
    ],
    [
      'like its target',
      { minReplicas: 3, maxReplicas: 9 },
      ['a', 'b'],
      target(6, { a: 4, b: 2 }),
      { a: [2, 6], b: [1, 3] },
    ],
    [
      'what one has no room for the others may have',
      { minReplicas: 3, maxReplicas: 9 },
      ['a', 'b'],
      { ...target(5, { a: 4, b: 1 }), most: { a: 4 } },
      { a: [2, 4], b: [1, 5] },
    ],
    [
      'what none has room for is asked for at home, and what is there stays',
      { minReplicas: 3, maxReplicas: 20 },
      ['a', 'b'],
      { ...target(10, { a: 6, b: 4 }), most: { a: 4, b: 5 }, home: 'b' },
      { a: [2, 6], b: [1, 14] },
    ],
    [
      'a minimum that is raised is where there is room for it',
      { minReplicas: 10, maxReplicas: 20 },
      ['a', 'b'],
      { ...target(5, { a: 4, b: 1 }), most: { a: 4, b: 16 } },
      { a: [4, 4], b: [6, 16] },
    ],
    [
      'room that is not come to changes nothing',
      { minReplicas: 3, maxReplicas: 9 },
      ['a', 'b'],
      { ...target(6, { a: 4, b: 2 }), most: { a: 40, b: 20 } },
      { a: [2, 6], b: [1, 3] },
    ],
    [
      'a minimum of one by default',
      { maxReplicas: 10 },
      ['a', 'b'],
      target(4, { a: 2, b: 2 }),
      { a: [1, 5], b: [0, 5] },
    ],
    [
      'no more in all than one would have, however it rounds',
      { minReplicas: 4, maxReplicas: 10 },
      ['a', 'b', 'c'],
      target(7, { a: 3, b: 3, c: 1 }),
      { a: [2, 4], b: [2, 4], c: [0, 2] },
    ],
    [
      'a hand-over holds both in full, and what joins as it is',
      { minReplicas: 3, maxReplicas: 10 },
      ['a', 'b'],
      moving(6, { a: 6, b: [6, 'Joining'] }, ['b']),
      { a: [3, 10], b: [6, 10] },
    ],
    [
      'what has taken over stays while the other leaves',
      { minReplicas: 3, maxReplicas: 10 },
      ['b'],
      moving(6, { a: [6, 'Leaving'], b: 6 }, ['b']),
      { b: [6, 10] },
    ],
    [
      'what is counted on stays until the other has gone, or shrunk',
      { minReplicas: 2, maxReplicas: 10 },
      ['a', 'b'],
      moving(6, { a: 6, b: 3 }, ['a', 'b']),
      { a: [3, 10], b: [3, 5] },
    ],
    [
      'more than its whole, while it scales down',
      { minReplicas: 2, maxReplicas: 4 },
      ['a'],
      moving(2, { a: 6 }, ['a']),
      { a: [2, 4] },
    ],
    [
      'nothing there yet: no minimum that may be more than it is given',
      { minReplicas: 2, maxReplicas: 6 },
      ['a', 'b'],
      moving(4, { a: 4 }, ['a', 'b']),
      { a: [2, 6], b: [0, 6] },
    ],
    [
      'an empty share',
      { minReplicas: 2, maxReplicas: 4 },
      ['a', 'b'],
      target(1, { a: 1, b: 0 }),
      { a: [2, 4], b: [0, 0] },
    ],
    [
      'unknown target: equally',
      { minReplicas: 3, maxReplicas: 8 },
      ['a', 'b'],
      undefined,
      { a: [2, 4], b: [1, 4] },
    ],
    [
      'ordinals: only the last may grow and shrink',
      { minReplicas: 4, maxReplicas: 9 },
      ['a', 'b'],
      {
        ...target(6, {}),
        ranges: true,
        shares: new Map([
          ['a', { replicas: 3, phase: 'Active', ordinalsStart: 3 }],
          ['b', { replicas: 3, phase: 'Active', ordinalsStart: 0 }],
        ]),
      },
      { a: [1, 6], b: [3, 3] },
    ],
    [
      'ordinals on their way: none does anything, whatever it is told to have',
      { minReplicas: 4, maxReplicas: 9 },
      ['a', 'b'],
      {
        ...moving(6, {}, ['b']),
        ranges: true,
        shares: new Map([
          ['a', { replicas: 5, phase: 'Active', ordinalsStart: 0 }],
          ['b', { replicas: 1, phase: 'Joining', ordinalsStart: 5 }],
        ]),
      },
      { a: [0, 9, 'suspended'], b: [0, 9, 'suspended'] },
    ],
  ])('%s', (_name, spec, clusters, scaled, expected) => {
    expect(boundsOf(spec, clusters, scaled)).toEqual(expected);
  });

  it('asks no cluster for more than its share, nor lets it have less, nor all of them other than one would', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(9), (held, below, above) => {
        const total = held.reduce((sum, n) => sum + n, 0);
        fc.pre(total > 0);
        const [minReplicas, maxReplicas] = [1 + (below % total), total + above];
        const names = held.map((_, i) => `c${i}`);
        const of = target(total, Object.fromEntries(held.map((n, i) => [`c${i}`, n])));
        const parts = Object.values(boundsOf({ minReplicas, maxReplicas }, names, of));
        for (const [i, [least = 0, most = 0]] of parts.entries()) {
          expect(least).toBeLessThanOrEqual(held[i] ?? 0);
          expect(most).toBeGreaterThanOrEqual(held[i] ?? 0);
        }
        expect(parts.reduce((sum, [least = 0]) => sum + least, 0)).toBe(minReplicas);
        expect(parts.reduce((sum, [, most = 0]) => sum + most, 0)).toBe(maxReplicas);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('targetOf', () => {
  it.each<[object | undefined, string | undefined]>([
    [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, 'deployments/web'],
    [{ apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' }, 'replicationcontrollers/rc'],
    [{ apiVersion: 'example.com/v1', kind: 'Deployment', name: 'web' }, undefined],
    [undefined, undefined],
  ])('%o', (scaleTargetRef, expected) => {
    const found = targetOf(autoscaler({ scaleTargetRef }));
    expect(found && `${found.kind.resource}/${found.name}`).toBe(expected);
  });
});

describe('handover of an autoscaler', () => {
  const share = (phase: Share['phase'], replicas: number, maxReplicas: number): Share => ({
    phase,
    replicas,
    maxReplicas,
  });
  const base = {
    gone: false,
    slices: {},
    isKnown: () => true,
    heardAt: () => 100_000,
    now: 100_000,
    settleMs: 2000,
  };
  const root = autoscaler({ minReplicas: 4, maxReplicas: 8 });
  const applied = (replicas: number) => ({ present: true, observedGeneration: 1, share: { replicas } });

  it('has its bounds follow its target at once, in whatever phase', () => {
    const previous = { a: share('Active', 4, 8), b: share('Joining', 4, 8) };
    const clusters = ['a', 'b'];
    const scaled = target(4, { a: 2, b: 2 });
    expect(handover({ ...base, root, clusters, previous, target: scaled }).shares).toEqual({
      a: share('Active', 2, 4),
      b: share('Joining', 2, 4),
    });
  });

  it('goes on once its target is where it is to be', () => {
    const previous = { b: { ...share('Active', 0, 8), suspend: true } };
    const scaled = { ...target(4, { b: 4 }), ranges: true };
    expect(handover({ ...base, root, clusters: ['b'], previous, target: scaled }).shares).toEqual({
      b: share('Active', 4, 8),
    });
    const away = { ...scaled, divided: false };
    expect(handover({ ...base, root, clusters: ['b'], previous, target: away }).shares).toEqual(previous);
  });

  it('is ready when it is applied', () => {
    const previous = { b: { ...share('Joining', 4, 8), readySince: new Date(1000).toISOString() } };
    const of = { ...base, root, clusters: ['b'], previous, target: target(4, { b: 4 }) };
    expect(handover({ ...of, slices: { b: applied(4) } }).shares).toEqual({ b: share('Active', 4, 8) });
    expect(handover({ ...of, slices: { b: applied(2) } }).shares).toEqual({ b: share('Joining', 4, 8) });
  });
});
