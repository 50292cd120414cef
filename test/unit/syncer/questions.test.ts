import { afterEach, expect, test, vi } from 'vitest';
import type { ShareView, ToldShare } from '../../../cluster/types.ts';
import { isQuestion, Questions } from '../../../syncer/questions.ts';
import { FakeClock } from '../controller/fake-clock.ts';

const { signal } = new AbortController();

afterEach(() => void vi.useRealTimers());

/** What the clock on the wall tells, whatever time passes. */
const setTo = (now: number) => vi.useFakeTimers({ toFake: ['Date'] }).setSystemTime(now);

/** Until what is to be done now has been. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a question stays open until a beat says something that began after it', () => {
  const questions = new Questions();
  questions.ask(100);
  expect(questions.areOpen).toBe(true);
  questions.answer(90);
  expect(questions.areOpen).toBe(true);
  questions.answer(100);
  expect(questions.areOpen).toBe(false);
  questions.ask(100);
  questions.ask(undefined);
  expect(questions.areOpen).toBe(false);
});

test('a clock that is set back neither leaves a question unheard nor one open', () => {
  setTo(2_000_000);
  const questions = new Questions();
  questions.ask(1_999_000);
  questions.answer(2_000_000);
  setTo(500_000);
  questions.ask(499_000);
  expect(questions.areOpen).toBe(true);
  questions.answer(500_000);
  expect(questions.areOpen).toBe(false);
  questions.ask(500_500);
  setTo(100_000);
  questions.answer(100_000);
  expect(questions.areOpen).toBe(false);
});

test('who asks by a clock that runs ahead is answered when it is that time, and not asked about without a pause', async () => {
  setTo(1_000_000);
  const clock = new FakeClock();
  const questions = new Questions(clock);
  const begun = async () => {
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  questions.ask(1_003_000);
  const soon = questions.wait(10_000, signal);
  await begun();
  clock.advance(3_000);
  setTo(1_003_000);
  await soon;
  expect(questions.areOpen).toBe(true);
  questions.answer(Date.now());
  expect(questions.areOpen).toBe(false);
  questions.ask(5_000_000);
  const late = questions.wait(10_000, signal);
  await begun();
  clock.advance(10_000);
  await late;
  expect(clock.pending).toBe(0);
});

test('whoever waits for the next beat is woken by a question, and by one that came before', async () => {
  const clock = new FakeClock();
  const questions = new Questions(clock);
  let isOver = false;
  const waiting = questions.wait(10_000, signal).then(() => {
    isOver = true;
  });
  while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await settle();
  expect(isOver).toBe(false);
  questions.ask(100);
  await waiting;
  expect(clock.pending).toBe(0);
  await questions.wait(10_000, signal);
  expect(clock.pending).toBe(0);
});

test('it ends with its interval, and with its signal', async () => {
  const clock = new FakeClock();
  const questions = new Questions(clock);
  const begun = async () => {
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const first = questions.wait(10_000, signal);
  await begun();
  clock.advance(10_000);
  await first;
  const ending = new AbortController();
  const second = questions.wait(10_000, ending.signal);
  await begun();
  ending.abort();
  await second;
  expect(clock.pending).toBe(0);
});

const [then, later] = ['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:20.000Z'];
const told = (share: Partial<ToldShare>, replicas = 2, uid = 'a'): ShareView => {
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas },
  };
  const spec = { share: { phase: 'Active', replicas, ...share }, manifest };
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Share',
    metadata: { name: 'web', uid },
    spec,
  } as ShareView;
};

test.each([
  ['asked first', told({}), told({ readySince: then }), true],
  ['asked anew', told({ heardSince: then }), told({ heardSince: later }), true],
  ['asked otherwise, since the same time', told({ readySince: then }), told({ heardSince: then }), false],
  ['nothing', told({ readySince: then }), told({ readySince: then }), false],
  ['asked, and grown', told({}), told({ readySince: then }, 3), false],
  ['asked, and paused', told({}), told({ readySince: then, paused: true }), false],
  ['asked, of another Placement', told({}), told({ readySince: then }, 2, 'b'), false],
])('what changes of a share may be a question and no more: %s', (_what, old, now, is) => {
  expect(isQuestion(now, old)).toBe(is);
});

test('waiting takes no timer of its own, and who asks right away waits until a moment is over', async () => {
  vi.useFakeTimers();
  const clock = new FakeClock();
  const questions = new Questions(clock);
  let isOver = false;
  const waiting = questions.wait(10_000, signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([clock.pending, vi.getTimerCount()]).toEqual([1, 0]);
  questions.ask(Date.now());
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await waiting;
  expect([clock.pending, vi.getTimerCount()]).toEqual([0, 0]);
});

test('one wait goes on for as long as it may, and is over when it may not or somebody asks', async () => {
  const clock = new FakeClock();
  const questions = new Questions(clock);
  const pieces = [20_000, 20_000];
  let over = false;
  const wait = (more: () => number | undefined) =>
    questions.wait(10_000, signal, more).then(() => {
      over = true;
    });
  const first = wait(() => pieces.shift());
  for (const ms of [10_000, 20_000]) {
    clock.advance(ms);
    await settle();
    expect([over, clock.pending]).toEqual([false, 1]);
  }
  clock.advance(20_000);
  await first;
  expect(pieces).toEqual([]);
  over = false;
  const second = wait(() => 20_000);
  clock.advance(10_000);
  await settle();
  expect(over).toBe(false);
  questions.ask(Date.now());
  await second;
  expect(clock.pending).toBe(0);
});
