import { describe, expect, it } from 'vitest';
import { Pace } from '../../../scheduler/pace.ts';

describe('how soon a namespace is decided again', () => {
  const clock = (now: () => number) => ({ now, after: () => () => {} });

  it.each([
    { case: 'never decided', took: undefined, later: 0, wait: 0 },
    { case: 'an ordinary namespace', took: 2, later: 0, wait: 0 },
    { case: 'a big one at once', took: 40, later: 0, wait: 120 },
    { case: 'a big one while it waits', took: 40, later: 100, wait: 20 },
    { case: 'a big one that was quiet', took: 40, later: 121, wait: 0 },
  ])('$case waits $wait ms', ({ took, later, wait }) => {
    let now = 1_000;
    const pace = new Pace(clock(() => now));
    if (took !== undefined) pace.took('a/b', took);
    now += later;
    expect(pace.wait('a/b')).toBe(wait);
    expect(pace.wait('a/other')).toBe(0);
  });

  it('forgets that a namespace was big', () => {
    const pace = new Pace(clock(() => 0));
    pace.took('a/b', 40);
    pace.took('a/b', 1);
    expect(pace.wait('a/b')).toBe(0);
  });
});
