import type { ChildProcess } from 'node:child_process';
import type { Order } from './messages.ts';

const askMs = 5_000;
/** One that is short of processor time answers late; one that hangs, never. */
const mostUnanswered = 6;
/** One that starts has much to load before it can: killed for that, it would begin anew, and on a busy machine never have begun. */
const mostAsItStarts = 60;
/** How long one that says nothing is let be. */
export const silentMs = (mostUnanswered + 1) * askMs;

/**
 * Asks the process from time to time whether it still does anything. Of one that has left `mostUnanswered` questions
 * unanswered, or `mostAsItStarts` before it said anything at all, `silent` is told, once. Questions are counted and not the time: whoever asks may have been paused, too.
 * Ends with the process.
 */
export function feelPulse(child: Pick<ChildProcess, 'connected' | 'on' | 'send'>, silent: () => void): void {
  let unanswered = 0;
  let most = mostAsItStarts;
  child.on('message', () => {
    unanswered = 0;
    most = mostUnanswered;
  });
  const timer = setInterval(() => {
    if (!child.connected) return clearInterval(timer);
    if (unanswered >= most) {
      clearInterval(timer);
      return silent();
    }
    const order: Order = { order: 'answer' };
    child.send(order);
    unanswered++;
  }, askMs);
  child.on('exit', () => clearInterval(timer));
}
