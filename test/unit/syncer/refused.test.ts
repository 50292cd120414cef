import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reflectedKind } from '../../../cluster/reflected.ts';
import { Refused } from '../../../syncer/refused.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('what is shown under another owner than its own is put again less and less, in the end each five minutes', () => {
  const refused = new Refused(reflectedKind('pods'));
  const begun = Date.now();
  const asked: number[] = [];
  while (Date.now() - begun < 3_600_000) {
    const { after } = refused.againUnderOther('n/web-1');
    asked.push(Date.now() - begun);
    vi.advanceTimersByTime(after);
  }
  expect(asked.slice(0, 5)).toEqual([0, 100, 200, 400, 800]);
  expect(asked.filter((at) => at < 15_000)).toHaveLength(9);
  expect((asked.at(-1) ?? 0) - (asked.at(-2) ?? 0)).toBe(300_000);
});

test('a claim whose name is taken is put again soon at first, and less and less, in the end each ten seconds', () => {
  const refused = new Refused(reflectedKind('persistentvolumeclaims'));
  const begun = Date.now();
  const asked: number[] = [];
  while (Date.now() - begun < 600_000) {
    const again = refused.again('n/data-db-0');
    asked.push(Date.now() - begun);
    vi.advanceTimersByTime((again as { after: number }).after);
  }
  expect(asked.filter((at) => at < 20_000)).toHaveLength(10);
  expect(asked.filter((at) => at >= 300_000 && at < 400_000)).toHaveLength(10);
});
