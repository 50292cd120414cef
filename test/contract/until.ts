import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition; fails after the deadline with what `describe` says. */
export async function until(condition: () => boolean, describe = () => String(condition)): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within 60 s: ${describe()}`);
    await sleep(2);
  }
}
