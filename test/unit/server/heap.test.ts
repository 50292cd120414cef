import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { controlArgs, whileBusy } from '../../../server/heap.ts';

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

test.each([
  ['4 MiB, where nobody says otherwise', [], 4],
  ['what the first process was given', ['--min-semi-space-size=2'], 2],
])('what is young in the process of the controllers has %s', async (_what, given, most) => {
  const asked = "v8.getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size";
  const { stdout } = await promisify(execFile)(process.execPath, [...controlArgs(given), '-p', asked]);
  expect(Number(stdout)).toBe(most * MIB);
});
