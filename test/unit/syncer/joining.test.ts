import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Joining, type Turn } from '../../../syncer/joining.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const most = 32;
const { signal } = new AbortController();
setMaxListeners(0, signal);
const answers = async () => ({ status: 200, headers: {}, body: new Uint8Array() });
const get = { method: 'GET', url: '/', headers: {} };

async function full(joining: Joining): Promise<Turn[]> {
  return await Promise.all(Array.from({ length: most }, () => joining.turn(signal)));
}

function later(joining: Joining, of = signal) {
  const got = vi.fn();
  joining.turn(of).then(got, () => undefined);
  return got;
}

test('so many join at a time, and the next when one has', async () => {
  const joining = new Joining();
  const [first] = await full(joining);
  const [next, last] = [later(joining), later(joining)];
  await vi.advanceTimersByTimeAsync(0);
  expect(next).not.toHaveBeenCalled();
  first?.end();
  first?.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(next).toHaveBeenCalled();
  expect(last).not.toHaveBeenCalled();
});

test('one that says nothing is waited for by nobody, one that answers is', async () => {
  const joining = new Joining();
  const turns = await full(joining);
  const others = Array.from({ length: most }, () => later(joining));
  const talks = setInterval(() => void turns[0]?.over(answers)(get), 300);
  await vi.advanceTimersByTimeAsync(2_100);
  clearInterval(talks);
  expect(others.filter((one) => one.mock.calls.length > 0)).toHaveLength(most - 1);
});

test('a request that fails is no answer, and fails as it did', async () => {
  const joining = new Joining();
  const [turn] = await full(joining);
  const fails = turn?.over(() => Promise.reject(new Error('refused')));
  await expect(fails?.(get)).rejects.toThrow('refused');
});

test('one that ends while it joins gives its turn back, and one that ends before takes none', async () => {
  const joining = new Joining();
  await full(joining).then((turns) =>
    turns.slice(1).map((turn) => setInterval(() => void turn.over(answers)(get), 100)),
  );
  const gone = new AbortController();
  const never = later(joining, gone.signal);
  gone.abort(new Error('gone'));
  const next = later(joining);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(never).not.toHaveBeenCalled();
  expect(next).toHaveBeenCalled();
});

test('one that answers without end keeps its turn for so long and no longer', async () => {
  const joining = new Joining();
  const turns = await full(joining);
  const talks = turns.map((turn) => setInterval(() => void turn.over(answers)(get), 300));
  const next = later(joining);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(next).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1_100);
  expect(next).toHaveBeenCalled();
  for (const talk of talks) clearInterval(talk);
});
