import { setMaxListeners } from 'node:events';

/**
 * What `run` comes to; until then the signal that it is given aborts as `signal` does, and after `ms` with a TimeoutError, which
 * `run` must heed. In place of AbortSignal.timeout: once that is given to AbortSignal.any nothing holds it, and when it
 * has been collected it never aborts (Node 20).
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError')),
    ms,
  );
  timer.unref();
  // Not AbortSignal.any: what it makes lives until it is collected, and costs more than all else here.
  const end = () => late.abort(signal?.reason);
  // One lifetime for many is meant so, and no leak.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    return await run(late.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Whether it was the time of `within` that was over. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** What `work` comes to; rejects with the reason of `signal` once that aborts, whatever becomes of `work` then. */
export async function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let end = () => {};
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
