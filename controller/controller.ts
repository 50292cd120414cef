import { isUnheard, retryAfterMs } from '../client/errors.ts';
import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';
import { breather } from './breather.ts';
import { observed } from './observer.ts';
import type { WorkQueue } from './queue.ts';

/** Reconcile again so many milliseconds from now; 'growing': after a delay that doubles until the answer is another. */
export interface Retry {
  after: number | 'growing';
  /** How far the delay grows; default: as far as the queue's. */
  atMost?: number;
}

export interface ControllerOptions {
  name: string;
  /** Closed when the controller stops. */
  queue: WorkQueue;
  /** How many keys are reconciled at the same time; default 4. */
  workers?: number;
  /**
   * Brings the world of one key closer to what is wanted, from what it reads now: it is not told what happened.
   * Throws: again after a growing delay (after a lost race: at once), and no sooner than a server asks for that is busy. `after`: again then. Else: done.
   */
  reconcile(key: string, signal: AbortSignal): Promise<Retry | undefined> | Promise<void>;
  signal: AbortSignal;
  logger: Logger;
  /** It stands back for nobody: others do, for what it writes. */
  goesFirst?: boolean;
  /** Work starts after these, e.g. the caches' `synced`. */
  ready?: readonly Promise<unknown>[];
}

/** So many lost races in a row count as a failure of another kind. */
const conflictsAtOnce = 8;
/** More than a few requests take that nobody holds up. */
const longMs = 250;
/** Long enough for the winner's write to reach our cache. */
const conflictDelayMs = 100;

/** Resolves when `signal` has aborted and every reconcile under way has returned. */
export async function runController(options: ControllerOptions): Promise<void> {
  const watched = observed(options.name, options.queue);
  options.queue.observer = watched?.observer;
  try {
    await run(options);
  } finally {
    watched?.ended();
  }
}

async function run(options: ControllerOptions): Promise<void> {
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
  const underWay = new Set<Promise<void>>();
  await work(options, workers, underWay);
  await Promise.all(underWay);
}

/** One taker, which waits while all workers are busy: those that have nothing to do are nothing, and most have not. */
async function work(
  options: ControllerOptions,
  workers: number,
  underWay: Set<Promise<void>>,
): Promise<void> {
  const { queue } = options;
  let busy = 0;
  let freed: () => void = () => undefined;
  for (;;) {
    if (breather.held && !options.goesFirst) await breather.held;
    const pause = queue.length > 0 ? breather.pause() : undefined;
    if (pause) await pause;
    const key = await queue.take();
    if (key === undefined) return;
    // What it waited for may be the first of many.
    if (breather.held && !options.goesFirst) await breather.held;
    if (options.signal.aborted) {
      queue.done(key);
      return;
    }
    const done = process(key, options).finally(() => {
      underWay.delete(done);
      queue.done(key);
    });
    underWay.add(done);
    busy += 1;
    void (queue.isFair ? orLong(done) : done).then(() => {
      busy -= 1;
      freed();
    });
    if (busy >= workers) await new Promise<void>((resolve) => (freed = resolve));
  }
}

/**
 * What takes long waits for somebody, a webhook perhaps. It needs no worker for that: the queue bounds how much of it one
 * party can have under way.
 */
async function orLong(done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const long = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longMs);
  });
  await Promise.race([done, long]);
  clearTimeout(timer);
}

async function process(key: string, options: ControllerOptions): Promise<void> {
  const { name, queue, signal, logger } = options;
  try {
    const result = await options.reconcile(key, signal);
    if (result?.after === 'growing') {
      queue.addRateLimited(key, result.atMost);
      return;
    }
    queue.forget(key);
    if (result) queue.addAfter(key, result.after);
  } catch (err) {
    if (signal.aborted) return;
    const failures = queue.failures(key);
    queue.noteHeard(key, !isUnheard(err));
    if (isStatusError(err, 'Conflict') && failures < conflictsAtOnce) {
      logger.debug({ err, controller: name, key }, 'lost a race, trying again');
      queue.addRateLimited(key, conflictDelayMs);
    } else {
      logger.warn({ err, controller: name, key, failures }, 'reconcile failed');
      queue.addRateLimited(key, undefined, retryAfterMs(err));
    }
  }
}
