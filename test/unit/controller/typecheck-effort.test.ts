import { expect, it } from 'vitest';
import { AtOnce } from '../../../controller/typecheck/at-once.ts';
import { Effort, OutOfTime, Unwanted } from '../../../controller/typecheck/effort.ts';

function effort() {
  const at = { ms: 0, isWanted: true };
  const made = new Effort({ cluster: 'a', isWanted: () => at.isWanted, now: () => at.ms });
  return { at, made };
}

it('others have their turn after so many milliseconds, not before each part', async () => {
  const { at, made } = effort();
  at.ms = 9;
  expect(made.turn()).toBeUndefined();
  at.ms = 10;
  const turn = made.turn();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
  at.ms = 19;
  expect(made.turn()).toBeUndefined();
});

it('its own work is counted, not what it waits for, and ends', async () => {
  const { at, made } = effort();
  const later = async () => {
    await Promise.resolve();
    at.ms += 60_000;
  };
  await made.aside(later());
  for (let i = 0; i < 30; i++) {
    at.ms += 100;
    await made.turn();
  }
  at.ms += 100;
  await expect(made.turn()).rejects.toThrow(OutOfTime);
});

it('what nobody wants any more ends at the next turn', async () => {
  const { at, made } = effort();
  at.isWanted = false;
  expect(made.turn()).toBeUndefined();
  at.ms = 10;
  await expect(made.turn()).rejects.toThrow(Unwanted);
  await expect(made.aside(Promise.resolve(1))).rejects.toThrow(Unwanted);
  await expect(made.aside(Promise.reject(new Error('no')))).rejects.toThrow('no');
});

it('so much runs at once, and the rest in order', async () => {
  const two = new AtOnce(2);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) =>
    two.run(async () => {
      order.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (name === 'b') throw new Error('b');
    });
  const all = Promise.allSettled(['a', 'b', 'c', 'd'].map(run));
  expect(order).toEqual(['a', 'b']);
  ends[1]?.();
  await expect.poll(() => order).toEqual(['a', 'b', 'c']);
  for (let i = 0; order.length < 4; i++) {
    ends[0]?.();
    await Promise.resolve();
    expect(i).toBeLessThan(100);
  }
  for (const end of ends) end();
  expect((await all).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});
