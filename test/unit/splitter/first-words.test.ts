import { expect, test } from 'vitest';
import type { Clock } from '../../../kube/clock.ts';
import { FirstWords, isNoNews } from '../../../splitter/first-words.ts';

const available = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' };
const rolled = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' };
const waiting = { type: 'Progressing', status: 'Unknown', reason: 'WaitingForClusters' };
const before = { replicas: 1, conditions: [available, rolled] };
const waits = { replicas: 1, conditions: [available, waiting] };

test.each([
  ['one has yet to speak', before, waits, true],
  ['nothing', before, before, false],
  ['one has yet to speak, and there are more', before, { ...waits, replicas: 2 }, false],
  [
    'one has yet to speak, and it is not available',
    before,
    { ...waits, conditions: [{ ...available, status: 'False' }, waiting] },
    false,
  ],
  [
    'of what nothing was said before',
    before,
    { replicas: 1, conditions: [available, rolled, { ...waiting, type: 'Full' }] },
    false,
  ],
  ['there is no status yet', undefined, waits, false],
])('what is new of a status may be that somebody has yet to speak: %s', (_what, old, status, is) => {
  expect(isNoNews(old, status)).toBe(is);
});

/** Of which only what passes counts: somebody sets what it tells. */
class SetClock implements Clock {
  wall = 1_000_000_000;
  passed = 0;
  now = () => this.wall + this.passed;
  ticks = () => this.passed;
  after = () => () => {};
}

test('that somebody has yet to speak is told when there was time to', () => {
  const clock = new SetClock();
  const words = new FirstWords(clock);
  const leftAt = (passed: number, key: string, status: Record<string, unknown> = waits) => {
    clock.passed = passed;
    return words.left(key, before, status);
  };
  expect([0, 1000, 4999, 5000].map((at) => leftAt(at, 'a'))).toEqual([5000, 4000, 1, 0]);
  expect(leftAt(4000, 'b')).toBe(5000);
  // It has spoken; another one has yet to.
  expect(leftAt(6000, 'a', { ...before, replicas: 2 })).toBe(0);
  expect(leftAt(7000, 'a')).toBe(5000);
  words.forget('a');
  expect(leftAt(8000, 'a')).toBe(5000);
});

test('while there is more to do than can be done there was no time to', () => {
  const clock = new SetClock();
  const rush = { isOn: true };
  const words = new FirstWords(clock, rush);
  expect(words.left('a', before, waits)).toBe(30_000);
  clock.passed = 6_000;
  expect(words.left('a', before, waits)).toBe(24_000);
  rush.isOn = false;
  expect(words.left('a', before, waits)).toBe(0);
});

test('a clock that is set back makes nobody wait longer', () => {
  const clock = new SetClock();
  const words = new FirstWords(clock);
  expect(words.left('a', before, waits)).toBe(5000);
  clock.wall -= 3_600_000;
  clock.passed = 5000;
  expect(words.left('a', before, waits)).toBe(0);
});
