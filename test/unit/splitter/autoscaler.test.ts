import { describe, expect, it } from 'vitest';
import type { Share } from '../../../cluster/types.ts';
import { autoscalerBounds, type ScaleTarget, targetOf } from '../../../splitter/autoscaler.ts';
import { handover } from '../../../splitter/handover.ts';
import { placed } from '../cluster/objects.ts';

const autoscaler = (spec: object) =>
  placed('HorizontalPodAutoscaler', 'web', { metadata: { generation: 1 }, spec }).object;
const target = (total: number, replicas: Record<string, number>): ScaleTarget => ({
  total,
  replicas: new Map(Object.entries(replicas)),
});

describe('autoscalerBounds', () => {
  it.each<[string, object, string[], ScaleTarget | undefined, Record<string, [number, number]>]>([
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
      'a minimum of one by default',
      { maxReplicas: 10 },
      ['a', 'b'],
      target(4, { a: 2, b: 2 }),
      { a: [1, 5], b: [1, 5] },
    ],
    [
      'a hand-over holds both in full',
      { minReplicas: 6, maxReplicas: 10 },
      ['a', 'b'],
      target(6, { a: 6, b: 6 }),
      { a: [6, 10], b: [6, 10] },
    ],
    [
      'more than its whole, while it scales down',
      { minReplicas: 2, maxReplicas: 4 },
      ['a'],
      target(2, { a: 6 }),
      { a: [2, 4] },
    ],
    [
      'nothing there yet',
      { minReplicas: 2, maxReplicas: 4 },
      ['a', 'b'],
      target(4, { a: 4 }),
      { a: [2, 4], b: [2, 4] },
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
  ])('%s', (_name, spec, clusters, scaled, expected) => {
    const bounds = [...autoscalerBounds(autoscaler(spec), clusters, scaled)];
    expect(Object.fromEntries(bounds.map(([c, b]) => [c, [b.replicas, b.maxReplicas]]))).toEqual(expected);
  });

  it('asks no cluster for more than its share, nor lets it have less', () => {
    for (let total = 1; total <= 12; total++)
      for (let here = 0; here <= total; here++) {
        const of = target(total, { a: here, b: total - here });
        const spec = { minReplicas: Math.ceil(total / 2), maxReplicas: total + 1 };
        const a = autoscalerBounds(autoscaler(spec), ['a', 'b'], of).get('a');
        expect(a?.replicas, `${here} of ${total}`).toBeLessThanOrEqual(here);
        expect(a?.maxReplicas, `${here} of ${total}`).toBeGreaterThanOrEqual(here);
      }
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
  const base = { gone: false, slices: {}, isKnown: () => true, now: 100_000, settleMs: 2000 };
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

  it('is ready when it is applied', () => {
    const previous = { b: { ...share('Joining', 4, 8), readySince: new Date(1000).toISOString() } };
    const of = { ...base, root, clusters: ['b'], previous, target: target(4, { b: 4 }) };
    expect(handover({ ...of, slices: { b: applied(4) } }).shares).toEqual({ b: share('Active', 4, 8) });
    expect(handover({ ...of, slices: { b: applied(2) } }).shares).toEqual({ b: share('Joining', 4, 8) });
  });
});
