import { retryAfterMs } from '../client/errors.ts';
import { isStatusError } from '../kube/status.ts';

/** Whoever is busy is asked again after so long at least, or as it says. */
const againMs = 1000;

/** Whether too many ask whoever answered so: who waits a moment is answered. */
export function isBusy(error: unknown): boolean {
  return isStatusError(error) && error.code === 429;
}

/** @param intervalMs how often it is asked anyway: no less often for being busy, since whoever is not asked is taken for silent. */
export function busyMs(error: unknown, intervalMs: number): number {
  return Math.min(intervalMs, Math.max(againMs, retryAfterMs(error)));
}
