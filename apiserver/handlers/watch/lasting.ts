import type { Exchange } from '../../core.ts';

/**
 * Waits until the stream has all history, or so much of it that somebody has to read first. Whatever fails after
 * that goes to `onLate`.
 */
export async function begun(
  stream: { pause(): Promise<void> | undefined },
  onLate: (error: unknown) => void,
  watch: (pause: () => Promise<void> | undefined) => Promise<unknown>,
): Promise<void> {
  let answered = false;
  let onFull = (): void => {};
  const full = new Promise<void>((resolve) => {
    onFull = resolve;
  });
  const watching = watch(() => {
    const pause = stream.pause();
    if (pause !== undefined) onFull();
    return pause;
  });
  watching.catch((error: unknown) => {
    if (answered) onLate(error);
  });
  await Promise.race([watching, full]);
  answered = true;
}

const minTimeoutSeconds = 1800;
/** The client counts from when it has the headers, and takes what ends before its time for a failure. */
const headersMs = 50;

/** Ends a watch when its time is up (0: the server's choice), the client goes, or the server closes. */
export function arrange(
  { core, request }: Pick<Exchange, 'core' | 'request'>,
  lifetime: { seconds: number; close: () => void; end: () => void; cleanups: (() => void)[] },
): void {
  const seconds = lifetime.seconds || minTimeoutSeconds * (1 + Math.random());
  const timer = setTimeout(lifetime.close, Math.min(seconds, 2_000_000) * 1000 + headersMs);
  timer.unref();
  lifetime.cleanups.push(() => clearTimeout(timer));
  const listen = (signal: AbortSignal | undefined, run: () => void) => {
    if (signal === undefined) return;
    if (signal.aborted) return run();
    signal.addEventListener('abort', run, { once: true });
    lifetime.cleanups.push(() => signal.removeEventListener('abort', run));
  };
  listen(request.signal, lifetime.end);
  listen(core.closing, lifetime.close);
}
