import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Fed } from '../../../../apiserver/view/index.ts';
import { Listed } from '../../../../apiserver/view/listed.ts';
import { Shares } from '../../../../apiserver/view/shares.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';

const index = {} as Fed;
const viewer = { cluster: 'east', uid: 'uid-of-east' };
const made = (revision: number) => ({
  viewer,
  index,
  revision,
  state: new Shares(openMemory(), viewer),
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('what was listed last is given once, to who goes on with just that', () => {
  const listed = new Listed();
  const last = made(8);
  listed.keep(made(7));
  listed.keep(last);
  for (const other of [
    { viewer, index, revision: 7 },
    { viewer, index: {} as Fed, revision: 8 },
    { viewer: { ...viewer, uid: 'another' }, index, revision: 8 },
    { viewer: { ...viewer, cluster: 'west' }, index, revision: 8 },
  ])
    expect(listed.take(other)).toBeUndefined();
  expect(listed.take({ viewer, index, revision: 8 })).toBe(last.state);
  expect(listed.take({ viewer, index, revision: 8 })).toBeUndefined();
});

test('what nobody goes on with is kept for a while, and of each cluster one, whoever lists how often', () => {
  const listed = new Listed();
  for (let revision = 1; revision <= 100; revision++) listed.keep(made(revision));
  expect(vi.getTimerCount()).toBe(1);
  listed.take({ viewer, index, revision: 100 });
  expect(vi.getTimerCount()).toBe(0);
  listed.keep(made(101));
  vi.advanceTimersByTime(30_000);
  expect(listed.take({ viewer, index, revision: 101 })).toBeUndefined();
});
