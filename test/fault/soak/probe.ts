// Loaded by `node --import` before the program: a history that is soon full, and an answer to SIGUSR2 in the log.
import { setImmediate } from 'node:timers/promises';
import { DEFAULT_RETENTION } from '../../../storage/retention.ts';

/** What the process holds after its garbage is gone. */
export interface Held {
  /** Bytes: the heap, and what buffers have beside it. */
  readonly heap: number;
  readonly buffers: number;
  readonly rss: number;
}

DEFAULT_RETENTION.ageMs = Number(process.env['SOAK_HISTORY_MS']);

process.on('SIGUSR2', async () => {
  // What the first round lets go of, buffers above all, is freed by the next.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const held: Held = { heap: heapUsed, buffers: arrayBuffers, rss };
  process.stderr.write(`${JSON.stringify({ held })}\n`);
});
