import { expect, test } from 'vitest';
import type { ShareView, ToldShare } from '../../../cluster/types.ts';
import { isQuestion, Questions } from '../../../syncer/questions.ts';
import { FakeClock } from '../controller/fake-clock.ts';

const { signal } = new AbortController();

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
