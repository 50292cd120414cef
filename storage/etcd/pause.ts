import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, but not beyond the end of `signal`; never rejects. Unless `ref`: keeps no process alive. */
export async function pause(ms: number, signal: AbortSignal, { ref = false } = {}): Promise<void> {
  await sleep(ms, undefined, { signal, ref }).catch(() => undefined);
}
