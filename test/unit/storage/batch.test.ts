import { describe, expect, it } from 'vitest';
import { batchSize, goesAhead } from '../../../storage/level/batch.ts';

const jobs = (count: number, size = 10) =>
  Array.from({ length: count }, () => ({
    event: { type: 'put' as const, entry: { key: '/k', value: Buffer.alloc(size), revision: 1, created: 1 } },
  }));

describe('a batch', () => {
  it.each([
    ['nobody waits', 0, 0, 0],
    ['one waits', 1, 0, 1],
    ['few go together', 100, 0, 100],
    ['of many half go', 512, 0, 256],
    ['and the other half next', 256, 256, 256],
    ['there is a most', 20_000, 0, 2048],
  ])('%s', (_, waiting, ahead, size) => {
    expect(batchSize(jobs(waiting), ahead)).toBe(size);
  });

  it('is bounded in bytes, but takes one of any size', () => {
    expect(batchSize(jobs(100, 1 << 20), 0)).toBe(4);
    expect(batchSize(jobs(3, 6 << 20), 0)).toBe(1);
  });

  it.each([
    [0, 10, false],
    [1, 63, false],
    [256, 256, true],
    [30, 64, true],
  ])('%d waiting behind one of %d', (waiting, last, ahead) => {
    expect(goesAhead(waiting, last)).toBe(ahead);
  });
});
