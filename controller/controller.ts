import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';
import type { WorkQueue } from './queue.ts';

/** Reconcile again so many milliseconds from now. */
export interface Retry {
  after: number;
}

export interface ControllerOptions {
  name: string;
  /** Closed when the controller stops. */
  queue: WorkQueue;
  /** How many keys are reconciled at the same time; default 4. */
  workers?: number;
  /**
   * Brings the world of one key closer to what is wanted, from what it reads now: it is not told what happened.
   * Throws: again after a growing delay (after a lost race: at once). `after`: again then. Else: done.
   */
  reconcile(key: string, signal: AbortSignal): Promise<Retry | undefined> | Promise<void>;
  signal: AbortSignal;
  logger: Logger;
  /** Work starts after these, e.g. the caches' `synced`. */
  ready?: readonly Promise<unknown>[];
}

/** So many lost races in a row count as a failure of another kind. */
const conflictsAtOnce = 8;
/** Long enough for the winner's write to reach our cache. */
const conflictDelayMs = 100;

/** Resolves when `signal` has aborted and every reconcile under way has returned. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { queue, signal, ready = [], workers = 4 } = options;
  const close = () => queue.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    await Promise.all(ready);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  await Promise.all(Array.from({ length: workers }, () => work(options)));
}

async function work(options: ControllerOptions): Promise<void> {
  const { queue } = options;
  for (;;) {
    const key = await queue.take();
    if (key === undefined) return;
    try {
      await process(key, options);
    } finally {
      queue.done(key);
    }
  }
}

async function process(key: string, options: ControllerOptions): Promise<void> {
  const { name, queue, signal, logger } = options;
  try {
    const result = await options.reconcile(key, signal);
    queue.forget(key);
    if (result) queue.addAfter(key, result.after);
  } catch (err) {
    if (signal.aborted) return;
    const failures = queue.failures(key);
    if (isStatusError(err, 'Conflict') && failures < conflictsAtOnce) {
      logger.debug({ err, controller: name, key }, 'lost a race, trying again');
      queue.addRateLimited(key, conflictDelayMs);
    } else {
      logger.warn({ err, controller: name, key, failures }, 'reconcile failed');
      queue.addRateLimited(key);
    }
  }
}
