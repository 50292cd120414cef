import { expect, test } from 'vitest';
import { mayGather } from '../../../server/heap.ts';

const MIB = 1 << 20;

test.each([
  [10, 400],
  [40, 400],
  [64, 250],
  [160, 100],
  [1000, 100],
])('of %i MiB alive, a busy server may gather %i %% of garbage', (alive, percent) => {
  expect(mayGather(1_000, alive * MIB)).toBe(percent);
});

test.each([
  ['the first search', Number.POSITIVE_INFINITY, 100],
  ['one after a while', 30_000, 100],
  ['one after long', 120_000, 50],
])('after %s as much may gather, whatever is alive', (_which, sinceMs, percent) => {
  for (const alive of [10, 1000]) expect(mayGather(sinceMs, alive * MIB)).toBe(percent);
});
