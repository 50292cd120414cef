import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../eventually.ts';

/** Waits for a condition; fails after the deadline with what `describe` says. */
export async function until(condition: () => boolean, describe = () => String(condition)): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${describe()}`);
    await sleep(2);
  }
}
