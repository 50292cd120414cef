import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './store.ts';

export interface SelfCheckOptions {
  signal: AbortSignal;
  logger?: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Between two checks, give or take a half, so that servers do not check at the same time. Default 5 minutes. */
  intervalMs?: number;
}

export interface SelfCheckCounts {
  checks: number;
  /** Entries that were wrong in memory, of all checks together. */
  mismatches: number;
  /** Records that were damaged on disk, by the last check. */
  damaged: number;
}

/** Checks the store now and then until `signal` aborts; the counts it answers go on changing. See Store.check. */
export function startSelfCheck(store: Store, options: SelfCheckOptions): SelfCheckCounts {
  const counts: SelfCheckCounts = { checks: 0, mismatches: 0, damaged: 0 };
  void run(store, options, counts);
  return counts;
}

async function run(store: Store, options: SelfCheckOptions, counts: SelfCheckCounts): Promise<void> {
  const { signal, logger, intervalMs = 5 * 60_000 } = options;
  while (!signal.aborted) {
    await sleep(intervalMs * (0.5 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    try {
      const { kinds, damaged, revision } = await store.check();
      counts.checks++;
      counts.damaged = damaged;
      for (const { kind, mismatches } of kinds) {
        if (mismatches === 0) continue;
        counts.mismatches += mismatches;
        logger?.warn({ kind, mismatches, revision }, 'memory was not what is stored; it was repaired');
      }
      if (damaged > 0) {
        logger?.warn({ damaged }, 'records are damaged on disk: back the store up while it is open');
      }
    } catch (err) {
      if (!signal.aborted) logger?.info({ err }, 'the store could not be checked; it is tried again');
    }
  }
}
