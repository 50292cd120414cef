import { expect, test } from 'vitest';
import type { Share } from '../../../cluster/types.ts';
import { toldOnce } from '../../../splitter/autoscaler-told.ts';

const slices = {
  a: { present: true, status: { currentReplicas: 3 } },
  b: { present: true, status: { currentReplicas: 3 } },
};
const target = (shares: Record<string, Share>, wanted: string[]) => ({
  total: 3,
  shares: new Map(Object.entries(shares)),
  wanted,
  divided: false,
  ranges: false,
});
const active = (replicas: number): Share => ({ phase: 'Active', replicas });

test.each<[string, Record<string, Share>, string[], string[]]>([
  ['on its way', { a: active(3), b: { phase: 'Joining', replicas: 3 } }, ['b'], ['a']],
  ['there, and still where it was', { a: active(3), b: active(3) }, ['b'], ['b']],
  ['about to leave', { a: { phase: 'Withdrawing', replicas: 3 }, b: active(3) }, ['b'], ['b']],
  ['gone where it was', { b: active(3) }, ['b'], ['b']],
  ['spread', { a: active(2), b: active(1) }, ['a', 'b'], ['a', 'b']],
  ['scaled up on its way', { a: active(2), b: { phase: 'Joining', replicas: 3 } }, ['b'], ['b']],
  ['less than it is to be', { a: active(1), b: active(1) }, ['b'], ['a', 'b']],
])('an autoscaler of what is %s speaks of it once', (_what, shares, wanted, speaking) => {
  const told = toldOnce(slices, target(shares, wanted));
  const spoke = Object.entries(told).filter(([, { status }]) => Object.keys(status ?? {}).length > 0);
  expect(spoke.map(([cluster]) => cluster)).toEqual(speaking);
});

test('of what nobody knows whether it moves all speak', () => {
  expect(toldOnce(slices, undefined)).toBe(slices);
});
