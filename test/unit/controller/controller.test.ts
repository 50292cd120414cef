import { expect, test } from 'vitest';
import { type Retry, runController } from '../../../controller/controller.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import { silentLogger } from '../../../kube/log.ts';
import { conflict, StatusError } from '../../../kube/status.ts';
import { eventually } from '../../eventually.ts';
import { FakeClock } from './fake-clock.ts';

function start(reconcile: (key: string) => Promise<Retry | undefined>, workers = 2) {
  const queue = new WorkQueue({ baseDelayMs: 1, maxDelayMs: 10_000 });
  const stop = new AbortController();
  const options = { name: 'test', queue, workers, reconcile, signal: stop.signal, logger: silentLogger };
  const done = runController(options);
  return { queue, stop, done };
}

test('failures and asked delays come again, success is the end', async () => {
  const outcomes: Record<string, (() => Promise<Retry | undefined>)[]> = {
    fails: [() => Promise.reject(new Error('no')), async () => undefined],
    races: Array.from(
      { length: 4 },
      () => () => Promise.reject(conflict({ group: '', resource: 'x' }, 'y', 'z')),
    ),
    later: [async () => ({ after: 5 }), async () => undefined],
  };
  const calls: string[] = [];
  const { queue, stop, done } = start(async (key) => {
    calls.push(key);
    return await outcomes[key]?.shift()?.();
  });
  for (const key of Object.keys(outcomes)) queue.add(key);
  await eventually(() => expect(queue.idle).toBe(true), 5);
  const counts = Object.keys(outcomes).map((key) => calls.filter((call) => call === key).length);
  expect(counts).toEqual([2, 5, 2]);
  expect(queue.failures('races')).toBe(0);
  stop.abort();
  await done;
});

test.each([
  ['as it says', 429, 7, 7000],
  ['a minute later at most', 503, 3600, 60_000],
])('a server that asks to be asked later is asked again %s', async (_, code, retryAfterSeconds, ms) => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ baseDelayMs: 1, clock });
  const stop = new AbortController();
  let calls = 0;
  const reconcile = async () => {
    calls += 1;
    if (calls === 1) throw new StatusError(code, 'Busy', 'later', { retryAfterSeconds });
  };
  const options = { name: 'test', queue, reconcile, signal: stop.signal, logger: silentLogger };
  const done = runController(options);
  queue.add('a');
  await eventually(() => expect(clock.pending).toBe(1));
  clock.advance(ms - 1);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  await eventually(() => expect(calls).toBe(2));
  stop.abort();
  await done;
});

test('growing delays double until the answer is another', async () => {
  const failures: number[] = [];
  const { queue, stop, done } = start(async (key) => {
    failures.push(queue.failures(key));
    return failures.length < 4 ? { after: 'growing' } : undefined;
  });
  queue.add('a');
  await eventually(() => expect(failures).toEqual([0, 1, 2, 3]), 5);
  await eventually(() => expect(queue.failures('a')).toBe(0));
  stop.abort();
  await done;
});

test('one key is never reconciled twice at the same time', async () => {
  let running = 0;
  let most = 0;
  let calls = 0;
  const { queue, stop, done } = start(async (key) => {
    running += 1;
    most = Math.max(most, running);
    calls += 1;
    if (calls < 5) queue.add(key);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return undefined;
  }, 4);
  queue.add('a');
  await eventually(() => expect(calls).toBe(5));
  expect(most).toBe(1);
  stop.abort();
  await done;
});

test('stopping waits for what is under way and starts nothing more', async () => {
  let finish = () => {};
  const finished: string[] = [];
  const { queue, stop, done } = start(async (key) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    finished.push(key);
    return undefined;
  }, 1);
  queue.add('a');
  queue.add('b');
  await eventually(() => expect(queue.length).toBe(1));
  let ended = false;
  void done.then(() => {
    ended = true;
  });
  stop.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  finish();
  await done;
  expect(finished).toEqual(['a']);
});

test('what takes long needs no worker, and a party has no more of it under way than its part', async () => {
  const fair = { partyOf: (key: string) => key[0] ?? '', most: 2 };
  const queue = new WorkQueue({ fair });
  const stop = new AbortController();
  const begun: string[] = [];
  let end = () => {};
  const hanging = new Promise<void>((resolve) => {
    end = resolve;
  });
  const reconcile = async (key: string) => {
    begun.push(key);
    if (key.startsWith('x')) await hanging;
  };
  const base = { name: 'test', queue, workers: 2, signal: stop.signal, logger: silentLogger };
  const done = runController({ ...base, reconcile });
  for (const key of ['x1', 'x2', 'x3', 'x4', 'y1', 'y2', 'y3']) queue.add(key);
  await eventually(() => expect(begun).toHaveLength(5), 5);
  expect([...begun].sort()).toEqual(['x1', 'x2', 'y1', 'y2', 'y3']);
  stop.abort();
  let stopped = false;
  const ended = done.then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped, 'it waits for what is under way').toBe(false);
  end();
  await ended;
  expect(begun, 'and starts nothing more').toHaveLength(5);
});

test('keys that wait for nothing, however many, leave the process time for all else', async () => {
  let calls = 0;
  const { queue, stop, done } = start(async () => {
    calls += 1;
    const from = performance.now();
    while (performance.now() - from < 1);
    return undefined;
  });
  const ends: number[] = [];
  const timer = setInterval(() => ends.push(calls), 1);
  for (let i = 0; i < 200; i++) queue.add(`${i}`);
  await eventually(() => expect(calls).toBe(200));
  clearInterval(timer);
  expect(ends.filter((at) => at > 0 && at < 200).length).toBeGreaterThan(3);
  stop.abort();
  await done;
});
