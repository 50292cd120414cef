import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, but not beyond the end of `signal`; never rejects and keeps no process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
