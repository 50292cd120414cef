import { expect, test } from 'vitest';
import { PlanTurn } from '../../../server/plan-turn.ts';

/** Longer than any test. */
const longMs = 3_600_000;

/** Ends only where it is aborted, as a copy does. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

function held() {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

test('a plan that is asked for comes before one of a dry run, which is abandoned first', async () => {
  const turn = new PlanTurn();
  const order: string[] = [];
  const dryRun = turn.beside(longMs, async (signal) => {
    await untilAborted(signal).finally(() => order.push('abandoned'));
  });
  const [one, other] = await Promise.allSettled([
    dryRun,
    turn.asked(async () => {
      order.push('asked');
      return 'plan';
    }),
  ]);
  expect(one).toMatchObject({ reason: { message: 'another was asked for; try again' } });
  expect(other).toEqual({ status: 'fulfilled', value: 'plan' });
  expect(order).toEqual(['abandoned', 'asked']);
  expect(await turn.beside(longMs, async () => 'next')).toBe('next');
});

test('one is made at a time', async () => {
  const turn = new PlanTurn();
  const { until, release } = held();
  const first = turn.asked(() => until);
  await expect(turn.asked(async () => {})).rejects.toMatchObject({ code: 429 });
  await expect(turn.beside(longMs, async () => {})).rejects.toThrow('another is being made');
  release();
  await first;
  const dryRun = held();
  const second = turn.beside(longMs, () => dryRun.until);
  await expect(turn.beside(longMs, async () => {})).rejects.toThrow('another is being made');
  dryRun.release();
  await second;
  await expect(turn.asked(async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turn.asked(async () => 1)).toBe(1);
});

test('after one that took too long none is begun beside a dry run for a minute', async () => {
  let time = 1000;
  const turn = new PlanTurn(() => time);
  await expect(turn.beside(1, untilAborted)).rejects.toThrow('no answer within 1 ms');
  let begun = 0;
  const begin = async () => ++begun;
  await expect(turn.beside(longMs, begin)).rejects.toThrow('took too long');
  expect(await turn.asked(async () => 'plan')).toBe('plan');
  expect(begun).toBe(0);
  time += 60_000;
  expect(await turn.beside(longMs, begin)).toBe(1);
});

test('what fails otherwise, or is abandoned, is no reason to wait', async () => {
  const turn = new PlanTurn();
  await expect(turn.beside(longMs, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const dryRun = turn.beside(longMs, untilAborted);
  await Promise.allSettled([dryRun, turn.asked(async () => {})]);
  expect(await turn.beside(longMs, async () => 1)).toBe(1);
});
