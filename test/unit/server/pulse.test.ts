import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { feelPulse, silentMs } from '../../../server/control/pulse.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers for as long as `answers` says. */
class Child extends EventEmitter {
  connected = true;
  asked = 0;
  answers = true;

  send(): boolean {
    this.asked++;
    if (this.answers) setTimeout(() => this.emit('message', 'here'), 1_000);
    return true;
  }
}

function start(): { child: Child; silent: ReturnType<typeof vi.fn> } {
  const [child, silent] = [new Child(), vi.fn()];
  feelPulse(child as never, silent as never);
  return { child, silent };
}

test('one that answers is let be, however long it runs', async () => {
  const { child, silent } = start();
  await vi.advanceTimersByTimeAsync(100 * silentMs);
  expect(silent).not.toHaveBeenCalled();
  expect(child.asked).toBeGreaterThan(100);
});

test('one that says nothing any more is told of once', async () => {
  const { child, silent } = start();
  await vi.advanceTimersByTimeAsync(2 * silentMs);
  child.answers = false;
  const before = child.asked;
  await vi.advanceTimersByTimeAsync(0.8 * silentMs);
  expect(silent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10 * silentMs);
  expect(silent).toHaveBeenCalledTimes(1);
  expect(child.asked - before).toBe(6);
});

test('one that has yet to say anything is given longer: it starts, and would start anew', async () => {
  const { child, silent } = start();
  child.answers = false;
  await vi.advanceTimersByTimeAsync(8 * silentMs);
  expect(silent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(8 * silentMs);
  expect(silent).toHaveBeenCalledTimes(1);
});

test('one that has said that it is there may be silent no longer than any', async () => {
  const { child, silent } = start();
  child.answers = false;
  child.emit('message', 'here');
  await vi.advanceTimersByTimeAsync(silentMs);
  expect(silent).toHaveBeenCalledTimes(1);
});

test('a pause of the one who asks is none of the one who is asked', async () => {
  const { silent } = start();
  await vi.advanceTimersByTimeAsync(silentMs + 4_500);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10 * silentMs);
  await vi.advanceTimersByTimeAsync(600);
  expect(silent).not.toHaveBeenCalled();
});

test.each([
  ['has ended', (child: Child) => child.emit('exit')],
  ['is about to', (child: Child) => Object.assign(child, { connected: false })],
])('one that %s is not asked', async (_, end) => {
  const { child, silent } = start();
  end(child);
  await vi.advanceTimersByTimeAsync(10 * silentMs);
  expect([child.asked, silent.mock.calls]).toEqual([0, []]);
});
