import { expect, test } from 'vitest';
import { boundsOf, shownUse } from '../../../cluster/limits.ts';

test.each([
  ['objects', { used: { objects: 12 }, hard: { objects: 1000 } }, '12/1000'],
  ['objects', { used: { objects: 12 } }, '12'],
  ['watches', { used: {} }, '-'],
  ['watches', {}, '-'],
  ['bytes', { used: { bytes: 34_000 }, hard: { bytes: 10 * 2 ** 20 } }, '34Ki/10Mi'],
  ['bytes', { used: { bytes: 999 }, hard: { bytes: 1024 } }, '999/1Ki'],
  ['bytes', { used: { bytes: 5000 }, hard: { bytes: 5000 } }, '5000/5000'],
  ['bytes', { used: { bytes: 0 } }, '0'],
] as const)('use of %s as %j is shown %s', (name, status, shown) => {
  expect(shownUse({ kind: '', apiVersion: '', metadata: {}, status }, name)).toBe(shown);
});

test.each([
  [
    { objects: 1, bytes: '10Mi', watches: 0 },
    { objects: 1, bytes: 10 * 2 ** 20, watches: 0 },
  ],
  [{ objects: 'no', other: 1, bytes: {} }, {}],
  [undefined, {}],
  ['x', {}],
])('limits %j bound %j', (limits, bounds) => {
  expect(boundsOf(limits)).toEqual(bounds);
});
