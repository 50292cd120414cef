import { expect, test } from 'vitest';
import { Rounds } from '../../../kube/rounds.ts';
import { FakeClock } from '../controller/fake-clock.ts';

/** What is called by the end of each of so many seconds, in order. */
function called(clock: FakeClock, seconds: number, calls: readonly unknown[]): number[] {
  return Array.from({ length: seconds }, () => {
    clock.advance(1_000);
    return calls.length;
  });
}

test('all that is due in a round is called in one turn, by one timer', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const calls: number[] = [];
  for (let i = 0; i < 10; i++) rounds.after(8_000, () => calls.push(i));
  expect(clock.pending).toBe(1);
  expect(called(clock, 8, calls)).toEqual([0, 0, 0, 0, 0, 0, 0, 10]);
  expect(clock.pending).toBe(0);
});

test('what waits for a moment is called when it said', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const calls: string[] = [];
  rounds.after(100, () => calls.push('soon'));
  clock.advance(100);
  expect(calls).toEqual(['soon']);
});

test('what is taken back is not called, also by one of the same round', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const calls: string[] = [];
  const cancels: (() => void)[] = [];
  rounds.after(6_000, () => cancels.forEach((cancel) => void cancel()));
  cancels.push(rounds.after(6_000, () => calls.push('same round')));
  rounds.after(6_000, () => calls.push('kept'));
  clock.advance(6_000);
  expect(called(clock, 6, calls).at(-1)).toBe(1);
  expect(calls).toEqual(['kept']);
});

test('whoever is called together is spread over the last tenth of what it waits for next', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const at = new Map<number, number>();
  let second = 0;
  const beat = (i: number) => {
    at.set(i, second);
    rounds.after(10_000, () => beat(i));
  };
  for (let i = 0; i < 1_000; i++) beat(i);
  for (second = 1; second <= 300; second++) clock.advance(1_000);
  const each = new Map<number, number>();
  for (const seconds of at.values()) each.set(seconds, (each.get(seconds) ?? 0) + 1);
  expect(Math.max(...each.values())).toBeLessThan(250);
  expect(Math.min(...at.values())).toBeGreaterThanOrEqual(290);
});

test('it starts again after it had nothing to wait for', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const calls: string[] = [];
  rounds.after(5_000, () => calls.push('first'));
  called(clock, 20, calls);
  rounds.after(5_000, () => calls.push('second'));
  expect(called(clock, 5, calls)).toEqual([1, 1, 1, 1, 2]);
});

test('what waits for long is called with others, in few of the rounds, no later than it said and not much sooner', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const waitedMs: number[] = [];
  const busy = new Set<number>();
  let second = 0;
  const seconds = 600;
  const beat = (since: number) => {
    waitedMs.push((second - since) * 1_000);
    busy.add(second);
    rounds.after(20_000, () => beat(second));
  };
  const begin = (at: number) => rounds.after(20_000, () => beat(at));
  for (second = 1; second <= seconds; second++) {
    // They do not begin together.
    if (second <= 200) begin(second - 1);
    clock.advance(1_000);
  }
  expect(busy.size).toBeLessThanOrEqual(seconds / 5);
  expect(Math.max(...waitedMs)).toBeLessThanOrEqual(20_000 + 1_000);
});

test('what waits for long and was called together is spread again', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(1_000, clock);
  const at = new Map<number, number>();
  let second = 0;
  const beat = (i: number) => {
    at.set(i, second);
    rounds.after(20_000, () => beat(i));
  };
  for (let i = 0; i < 1_000; i++) beat(i);
  for (second = 1; second <= 600; second++) clock.advance(1_000);
  const each = new Map<number, number>();
  for (const seconds of at.values()) each.set(seconds, (each.get(seconds) ?? 0) + 1);
  expect(Math.max(...each.values())).toBeLessThan(500);
  expect(Math.min(...at.values())).toBeGreaterThanOrEqual(580);
});
