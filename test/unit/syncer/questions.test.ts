import { expect, test } from 'vitest';
import { Questions } from '../../../syncer/questions.ts';
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
