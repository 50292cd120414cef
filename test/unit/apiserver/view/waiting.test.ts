import { expect, test } from 'vitest';
import { Waiting } from '../../../../apiserver/view/waiting.ts';

test('who waits goes on once it is true, and not before, or when it is over', async () => {
  const waiting = new Waiting();
  let at = 1;
  const until = (n: number) => waiting.until(() => at >= n);
  expect(await until(1)).toBe(true);
  const outcomes: [number, boolean][] = [];
  const all = [2, 3, 4].map(async (n) => outcomes.push([n, await until(n)]));
  waiting.wake();
  at = 2;
  waiting.wake();
  await all[0];
  expect(outcomes).toEqual([[2, true]]);
  at = 3;
  waiting.end();
  await Promise.all(all);
  expect(outcomes).toEqual([
    [2, true],
    [3, true],
    [4, false],
  ]);
  expect([await until(3), await until(5)]).toEqual([true, false]);
});
