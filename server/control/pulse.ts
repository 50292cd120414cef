import type { ChildProcess } from 'node:child_process';
import type { Order } from './messages.ts';

const askMs = 5_000;
/** One that is short of processor time answers late; one that hangs, never. */
export const silentMs = 30_000;

/**
 * Asks the process from time to time whether it still does anything. Of one that has said nothing for `silentMs` `silent`
 * is told, once. Ends with the process.
 */
export function feelPulse(child: Pick<ChildProcess, 'connected' | 'on' | 'send'>, silent: () => void): void {
  let heard = performance.now();
  child.on('message', () => {
    heard = performance.now();
  });
  const timer = setInterval(() => {
    if (!child.connected) return clearInterval(timer);
    if (performance.now() - heard >= silentMs) {
      clearInterval(timer);
      return silent();
    }
    const order: Order = { order: 'answer' };
    child.send(order);
  }, askMs);
  child.on('exit', () => clearInterval(timer));
}
