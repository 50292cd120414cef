import { expect, test } from 'vitest';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { pausesOf, silentAfter, silentMsAt } from '../../../syncer/pace.ts';

const second = 1_000;
const interval = 10 * second;
const said = (silentAfterSeconds?: number): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  status: silentAfterSeconds === undefined ? {} : { silentAfterSeconds },
});
const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);

test.each([
  ['nothing of ours is there, and others know', said(90), true, 50 * second],
  ['others do not know that yet', said(), true, interval],
  ['others were told of less', said(40), true, interval],
  ['it is not known what others know', undefined, true, interval],
  ['something is there, whatever was said', said(90), false, interval],
  ['something is there', said(), false, interval],
])('after an interval it is left alone, where %s', (_where, known, rests, ms) => {
  const pauses = pausesOf(known, rests, interval);
  expect(sum(pauses)).toBe(ms);
  expect(Math.max(...pauses), 'and its watches are looked at').toBeLessThanOrEqual(2 * interval);
});

test('others wait for two intervals more than it is left alone', () => {
  for (const rests of [false, true]) {
    const known = said(silentAfter(said().status, rests, interval).silentAfterSeconds);
    const asked = interval + sum(pausesOf(known, rests, interval));
    expect(silentMsAt(known, interval) - asked).toBeGreaterThanOrEqual(2 * interval);
  }
});

test.each([
  ['has never rested', said(), false, undefined],
  ['comes to rest', said(), true, 90],
  ['rests', said(90), true, 90],
  ['rests no more', said(90), false, 40],
  ['has rested once', said(40), false, 40],
])('what is said of one that %s', (_which, { status }, rests, seconds) => {
  expect(silentAfter(status, rests, interval).silentAfterSeconds).toBe(seconds);
});
