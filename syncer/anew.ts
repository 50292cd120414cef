import type { Logger } from '../kube/log.ts';
import type { SyncerOptions } from './syncer.ts';

/** Runs a syncer, and another one as often as its cluster turns out to be again as it was before: all of it is read anew then. */
export async function anew(
  options: SyncerOptions & { logger: Logger },
  start: (options: SyncerOptions) => { readonly stopped: Promise<void> },
): Promise<void> {
  const { name, signal, logger } = options;
  for (let isBefore = true; isBefore && !signal.aborted; ) {
    isBefore = false;
    const life = new AbortController();
    const end = () => life.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    const wentBack = () => {
      if (isBefore) return;
      isBefore = true;
      logger.warn(
        { physicalCluster: name },
        'a physical cluster is again as it was before, as from a backup: all of it is read anew',
      );
      life.abort(new Error(`cluster ${name} is again as it was before`));
    };
    await start({ ...options, signal: life.signal, wentBack }).stopped;
    signal.removeEventListener('abort', end);
  }
}
