import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FaultPart } from '../../fault/part.ts';
import { runPart } from '../../fault/runner.ts';

const part: FaultPart = {
  name: 'late',
  about: '',
  runs: 9,
  weight: 1,
  parallel: 2,
  bugs: [],
  prepare: async () => async () => {},
  run: async () => ({ ops: 1, faults: 0, failures: [] }),
};

test('a part for which no time is left runs once, and is no failure for that', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-runner-'));
  const options = { directory, firstSeed: 1, signal: new AbortController().signal, say: () => {} };
  const summary = await runPart(part, { runs: 9, until: performance.now() - 1 }, options);
  expect(summary).toMatchObject({ runs: 1, ops: 1, failures: [] });
  await rm(directory, { recursive: true });
});
