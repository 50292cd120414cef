import { expect, it } from 'vitest';
import { type Budget, fenceposts } from '../../../cluster/rolling.ts';
import type { Share } from '../../../cluster/types.ts';
import { divideBudget, withBudgets } from '../../../splitter/budget.ts';

const budget = (maxSurge: number, maxUnavailable: number): Budget => ({ maxSurge, maxUnavailable });
const deployment = (replicas: number | undefined, rollingUpdate?: Record<string, unknown>) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    ...(replicas !== undefined && { replicas }),
    ...(rollingUpdate && { strategy: { rollingUpdate } }),
  },
});

it.each<[number | undefined, Record<string, unknown> | undefined, Budget]>([
  [4, undefined, budget(1, 1)],
  [undefined, undefined, budget(1, 0)],
  [10, { maxSurge: '25%', maxUnavailable: '25%' }, budget(3, 2)],
  [4, { maxSurge: 1, maxUnavailable: 0 }, budget(1, 0)],
  [2, { maxSurge: 0, maxUnavailable: '25%' }, budget(0, 1)],
  [0, { maxSurge: '25%', maxUnavailable: '25%' }, budget(0, 1)],
  [4, { maxSurge: '100%', maxUnavailable: '0%' }, budget(4, 0)],
  [4, { maxSurge: 'much', maxUnavailable: 1 }, budget(0, 1)],
])('of %o replicas with %o the controller makes %o', (replicas, rolling, expected) => {
  expect(fenceposts(deployment(replicas, rolling).spec)).toEqual(expected);
});

it.each<[string, Budget, Record<string, number>, Record<string, Budget>]>([
  ['25 % of 2+2', budget(1, 1), { a: 2, b: 2 }, { a: budget(1, 0), b: budget(0, 1) }],
  ['25 % of 50+50', budget(25, 25), { a: 50, b: 50 }, { a: budget(13, 12), b: budget(12, 13) }],
  ['25 % of 9+1', budget(3, 2), { a: 9, b: 1 }, { a: budget(2, 2), b: budget(1, 0) }],
  ['surge alone', budget(4, 0), { a: 2, b: 2 }, { a: budget(2, 0), b: budget(2, 0) }],
  ['less than clusters', budget(1, 0), { a: 1, b: 3 }, { a: budget(0, 0), b: budget(1, 0) }],
  ['of three', budget(1, 1), { a: 2, b: 1, c: 1 }, { a: budget(1, 0), b: budget(0, 1), c: budget(0, 0) }],
])('%s', (_what, whole, weights, expected) => {
  expect(Object.fromEntries(divideBudget(whole, new Map(Object.entries(weights))))).toEqual(expected);
});

it('the parts always add up, and nobody has nothing while another has two', () => {
  for (let surge = 0; surge <= 7; surge++)
    for (let missing = surge === 0 ? 1 : 0; missing <= 7; missing++)
      for (const sizes of [
        [1, 1],
        [5, 1],
        [3, 3, 3],
        [9, 2, 1, 1],
        [1, 20, 1, 3, 3],
      ]) {
        const weights = new Map(sizes.map((n, i) => [`c${i}`, n]));
        const current = new Map(sizes.map((_, i) => [`c${i}`, (i * surge) % 3]));
        const parts = [...divideBudget(budget(surge, missing), weights, current).values()];
        expect(parts.reduce((sum, p) => sum + p.maxSurge, 0)).toBe(surge);
        expect(parts.reduce((sum, p) => sum + p.maxUnavailable, 0)).toBe(missing);
        const each = parts.map((p) => p.maxSurge + p.maxUnavailable);
        expect(parts.every((p) => p.maxSurge >= 0 && p.maxUnavailable >= 0)).toBe(true);
        expect(Math.min(...each) > 0 || Math.max(...each) <= 1).toBe(true);
      }
});

const active = (replicas: number, more: object = {}): Share => ({ phase: 'Active', replicas, ...more });
const held = { replicas: 2, since: '2026-01-01T00:00:00Z' };

it.each<[string, Record<string, Share>, { clusters: string[]; isPaused?: boolean }, string[]]>([
  ['nothing of it has stopped', { a: active(3), b: active(0) }, { clusters: ['b'] }, []],
  ['an ordinal is nowhere', { a: active(1, { held }), b: active(0) }, { clusters: ['b'] }, ['a']],
  ['an ordinal is there', { a: active(1), b: active(1) }, { clusters: ['b'] }, ['a']],
  [
    'its user has paused the move, and they go in turns',
    { a: active(1, { paused: true }), b: active(1, { ordinalsStart: 1 }) },
    { clusters: ['b'], isPaused: true },
    ['a'],
  ],
  [
    'so they do where it has the turn',
    { a: active(1), b: active(1, { ordinalsStart: 1, paused: true }) },
    { clusters: ['b'], isPaused: true },
    ['b'],
  ],
  ['it comes back', { a: active(1), b: active(1) }, { clusters: ['a'] }, ['b']],
])('a StatefulSet that moves is not updated where it is to leave: %s', (_what, shares, rolling, waiting) => {
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', generation: 2 },
    spec: {},
  };
  const parts = withBudgets(set, shares, rolling);
  const paused = Object.entries(parts).filter(([, share]) => share.paused);
  expect(paused.map(([c]) => c)).toEqual(waiting);
});
