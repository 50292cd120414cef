import { describe, expect, it } from 'vitest';
import { unsatisfied } from '../../../cluster/spread.ts';
import type { Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { planFor } from '../../../splitter/plan.ts';
import { otherwiseDivided } from '../../../splitter/spread.ts';

const values = { a: 'us', b: 'us', c: 'eu' };
const spread = { topologyKey: 'region', replicas: { us: 3, eu: 2 }, values };
const root = (kind: string, replicas: number, spec: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: { replicas, ...spec },
});
const active = (replicas: number, ordinalsStart?: number): Share => ({
  phase: 'Active',
  replicas,
  ...(ordinalsStart !== undefined && { ordinalsStart }),
});

describe('replicas', () => {
  it.each<[string, string[], number, Record<string, Share>, Record<string, number>]>([
    ['by region', ['a', 'c'], 5, {}, { a: 3, c: 2 }],
    ['over the clusters of a region', ['a', 'b', 'c'], 5, {}, { a: 2, b: 1, c: 2 }],
    ['the odd one stays', ['a', 'b', 'c'], 5, { a: active(1), b: active(2) }, { a: 1, b: 2, c: 2 }],
    ['twice as many', ['a', 'c'], 10, { a: active(3), c: active(2) }, { a: 6, c: 4 }],
    ['one region alone', ['a', 'b'], 5, { a: active(3), c: active(2) }, { a: 3, b: 2 }],
    ['a cluster without a value: equally', ['a', 'c', 'x'], 6, {}, { a: 2, c: 2, x: 2 }],
  ])('%s', (_what, clusters, total, previous, expected) => {
    const { goal } = planFor(root('Deployment', total), clusters, previous, { spread });
    expect(Object.fromEntries([...goal].map(([c, part]) => [c, part.replicas]))).toEqual(expected);
  });

  it('stay where an autoscaler has them', () => {
    const previous = { a: active(1), c: active(4) };
    const { goal } = planFor(root('Deployment', 5), ['a', 'c'], previous, {
      spread,
      scaling: { total: 5, divided: true },
    });
    expect(goal.get('c')).toEqual({ replicas: 4 });
  });
});

describe('ordinals', () => {
  const claims = { volumeClaimTemplates: [{ metadata: { name: 'data' } }] };
  it.each<[string, number, object, Record<string, Share>, Record<string, [number, number]>]>([
    ['by region', 5, {}, {}, { a: [3, 0], c: [2, 3] }],
    ['more come at the end', 7, {}, { a: active(3, 0), c: active(2, 3) }, { a: [3, 0], c: [4, 3] }],
    ['back to what was asked for', 5, {}, { a: active(3, 0), c: active(4, 3) }, { a: [3, 0], c: [2, 3] }],
    ['other counts', 5, {}, { a: active(1, 0), c: active(4, 1) }, { a: [3, 0], c: [2, 3] }],
    ['not away from their claims', 5, claims, { a: active(1, 0), c: active(4, 1) }, { a: [1, 0], c: [4, 1] }],
    ['a region that comes', 5, {}, { a: active(5, 0) }, { a: [3, 0], c: [2, 3] }],
  ])('%s', (_what, total, spec, previous, expected) => {
    const { goal } = planFor(root('StatefulSet', total, spec), ['a', 'c'], previous, {
      spread: { ...spread, values: { a: 'us', c: 'eu' } },
    });
    const got = Object.fromEntries([...goal].map(([c, part]) => [c, [part.replicas, part.ordinalsStart]]));
    expect(got).toEqual(expected);
  });
});

it('says what is not as it was asked for', () => {
  expect(unsatisfied(spread)).toBeUndefined();
  expect(unsatisfied({ ...spread, values: { a: 'us' } })).toBe(
    'no cluster of region eu takes it: its replicas are in us until one does',
  );
  expect(otherwiseDivided(root('Deployment', 5), 5, spread)).toBeUndefined();
  expect(otherwiseDivided(root('Deployment', 10), 10, spread)).toBe(
    'region eu=2,us=3 is of 5 replicas, and it has 10: they are divided in that proportion',
  );
  const filled = { ...spread, order: ['us', 'eu'] };
  expect(otherwiseDivided(root('Deployment', 4), 4, filled)).toMatch(
    /, and it has 4: what came last goes first$/,
  );
  expect(otherwiseDivided(root('Deployment', 6), 6, filled)).toMatch(/to where there is room, in turn$/);
  expect(otherwiseDivided(root('StatefulSet', 10), 10, spread)).toContain('come and go at the end');
  expect(otherwiseDivided(root('Deployment', 5), 5, { topologyKey: 'region', values })).toBeUndefined();
});
