import { readFile } from 'node:fs/promises';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { TakenFiles } from './taken-files.ts';

export interface Followed {
  file: string;
  /** What it was when it was read first. */
  text: string;
  signal: AbortSignal;
  logger: Logger;
  /** Told of what is taken. */
  files: TakenFiles;
  /** Throws, or rejects, where it is not to be taken: what was before is kept, and that is logged once; NotYet: it is tried again. */
  changed(text: string): void | Promise<void>;
  everyMs?: number;
}

/** What the file says is right, and cannot be taken now. */
export class NotYet extends Error {}

/** Reads a file again and again, until `signal` aborts. */
export async function followFile({
  file,
  text,
  signal,
  logger,
  files,
  changed,
  everyMs = 1000,
}: Followed): Promise<void> {
  let last: string | undefined = text;
  for (;;) {
    await sleep(everyMs, signal);
    if (signal.aborted) return;
    const now = await readFile(file, 'utf8').catch((err: Error) => err);
    if (now instanceof Error ? last === undefined : now === last) continue;
    last = now instanceof Error ? undefined : now;
    try {
      if (now instanceof Error) throw now;
      await changed(now);
      files.take(file, now);
      logger.info({ file }, 'the file was read anew');
    } catch (err) {
      if (err instanceof NotYet) last = undefined;
      logger.error({ file, err }, 'what the file said before is kept');
    }
  }
}
