import { describe, expect, it } from 'vitest';
import { historyOf } from '../../simulate/history.ts';
import { shrink } from '../../simulate/shrink.ts';

const going = new AbortController().signal;
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('a history that fails', () => {
  it.each([
    { needed: [], of: 7 },
    { needed: [3], of: 24 },
    { needed: [0, 23], of: 24 },
    { needed: [2, 3, 4, 9], of: 10 },
    { needed: upTo(5), of: 5 },
  ])('of $of actions is shrunk to those that it needs: $needed', async ({ needed, of }) => {
    const fails = async (fewer: readonly number[]) => needed.every((one) => fewer.includes(one));
    expect(await shrink(upTo(of), fails, going)).toEqual(needed);
  });

  it('is left as it is by whoever stops before', async () => {
    expect(await shrink(upTo(4), async () => true, AbortSignal.abort())).toEqual(upTo(4));
  });
});

describe('a history', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(historyOf(5)).toEqual(historyOf(5));
    expect(historyOf(6)).not.toEqual(historyOf(5));
  });

  it('goes forward in time, and speaks of workloads that it begins with', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { workloads, actions } = historyOf(seed);
      const names = workloads.map(({ name }) => name);
      expect(actions.map(({ at }) => at)).toEqual(actions.map(({ at }) => at).sort((a, b) => a - b));
      // Or of all in their Namespace.
      for (const action of actions)
        if ('workload' in action) expect([...names, '']).toContain(action.workload);
    }
  });
});
