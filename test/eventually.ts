import { vi } from 'vitest';

/** For what hangs, not for what is slow; less than a test may take, so that what is told is what was waited for. */
export const patienceMs = 200_000;

/** Runs expectations again and again until they hold; fails as they did last. */
export async function eventually<T>(check: () => T | Promise<T>, interval = 20): Promise<T> {
  return await vi.waitFor(check, { timeout: patienceMs, interval });
}
