import { expect, test } from 'vitest';
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

test('that somebody has yet to speak is told when there was time to', () => {
  const words = new FirstWords();
  expect([0, 1000, 4999, 5000].map((now) => words.left('a', before, waits, now))).toEqual([5000, 4000, 1, 0]);
  expect(words.left('b', before, waits, 4000)).toBe(5000);
  // It has spoken; another one has yet to.
  expect(words.left('a', before, { ...before, replicas: 2 }, 6000)).toBe(0);
  expect(words.left('a', before, waits, 7000)).toBe(5000);
  words.forget('a');
  expect(words.left('a', before, waits, 8000)).toBe(5000);
});
