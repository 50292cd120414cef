import { expect, test, vi } from 'vitest';
import { controllerCame } from '../../../syncer/assemble.ts';

test('what a workload has adopted is looked at down to its pods', () => {
  const made: Record<string, string[]> = { workload: ['set'], set: ['pod'] };
  const seen = vi.fn((uid: string) => made[uid] ?? []);
  controllerCame([{ controllerCame: seen }], 'workload');
  expect(seen.mock.calls.flat()).toEqual(['workload', 'set', 'pod']);
});

test('controllers that stand in a circle come to an end', () => {
  const seen = vi.fn((uid: string) => [uid === 'a' ? 'b' : 'a']);
  controllerCame([{ controllerCame: seen }], 'a');
  expect(seen.mock.calls.flat()).toEqual(['a', 'b', 'a']);
});
