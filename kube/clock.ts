/** Time as a dependency, so that whatever waits can be tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only pass, where somebody may set what now() tells. */
  ticks?(): number;
  /** Calls `run` once after `ms`; the answer cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: Date.now,
  ticks: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Of which only differences mean something. */
export function ticksOf(clock: Clock): number {
  return clock.ticks?.() ?? clock.now();
}

/** Resolves after `ms`, or at once when `signal` aborts: the caller looks at the signal. */
export function sleep(ms: number, signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** The same, also when `soon` resolves. */
export async function sleepUntil(
  soon: Promise<void> | undefined,
  ms: number,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  if (soon === undefined) return await sleep(ms, signal, clock);
  const woken = new AbortController();
  void soon.then(() => woken.abort());
  await sleep(ms, AbortSignal.any([signal, woken.signal]), clock);
}
