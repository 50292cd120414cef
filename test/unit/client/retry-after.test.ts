import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../client/errors.ts';
import { StatusError } from '../../../kube/status.ts';

const saying = (retryAfterSeconds: unknown) =>
  new StatusError(429, 'TooManyRequests', 'no', { retryAfterSeconds } as never);

test.each<[unknown, number]>([
  [2, 2_000],
  [3600, 60_000],
  [-1, 0],
  ['soon', 0],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, 0],
  [{}, 0],
  [null, 0],
  [undefined, 0],
])('whoever answers %s is left alone for %i ms', (said, ms) => {
  expect(retryAfterMs(saying(said))).toBe(ms);
});

test('what is no answer says nothing', () => {
  expect(retryAfterMs(new Error('x'))).toBe(0);
});
