import { expect, test } from 'vitest';
import { whileBusy } from '../../../server/heap.ts';

const MIB = 1 << 20;

test.each([
  [10, 400],
  [40, 400],
  [64, 250],
  [160, 100],
  [1000, 100],
])('of %i MiB alive, a busy server may gather %i %% of garbage', (alive, percent) => {
  expect(whileBusy(alive * MIB)).toBe(percent);
});
