import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadlines } from '../../../apiserver/wire/deadlines.ts';

describe('deadlines', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['a short one to the millisecond', 50, 0],
    ['a long one within a second', 60_000, 1000],
  ])('tells of %s', (_, millis, grace) => {
    const late = vi.fn();
    new Deadlines().add(millis, late);
    vi.advanceTimersByTime(millis - 1);
    expect(late).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1 + grace);
    vi.advanceTimersByTime(10 * millis);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it.each([50, 60_000])('says nothing when what was due in %s ms has happened', (millis) => {
    const late = vi.fn();
    const happened = new Deadlines().add(millis, late);
    happened();
    vi.advanceTimersByTime(10 * millis);
    expect(late).not.toHaveBeenCalled();
  });

  it('keeps looking after those that came later, and holds no timer when there are none', () => {
    const deadlines = new Deadlines();
    const [first, second] = [vi.fn(), vi.fn()];
    deadlines.add(20_000, first);
    vi.advanceTimersByTime(15_000);
    deadlines.add(20_000, second);
    vi.advanceTimersByTime(6_000);
    expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    vi.advanceTimersByTime(15_000);
    expect(second).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
