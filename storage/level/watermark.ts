import { corrupt } from './errors.ts';
import { readIfThere, writeDurable } from './files.ts';

const INTERVAL_MS = 1000;

/**
 * A file outside LevelDB with a revision that was acknowledged, at most about a second old. LevelDB opens a
 * damaged log by silently leaving out its end; with the watermark a missing end is noticed.
 */
export class Watermark {
  readonly #path: string;
  #written = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** After a commit. Starts a write when the last one is old enough; never waits, never fails. */
  note(revision: number, now: number): void {
    if (this.#writing !== undefined || now - this.#writtenAt < INTERVAL_MS) return;
    this.#writtenAt = now;
    this.#writing = this.#write(revision).finally(() => {
      this.#writing = undefined;
    });
  }

  /** Before the store closes. */
  async finish(revision: number): Promise<void> {
    await this.#writing;
    await this.#write(revision);
  }

  async #write(revision: number): Promise<void> {
    if (revision === this.#written) return;
    try {
      await writeDurable(this.#path, `${revision}\n`);
      this.#written = revision;
    } catch {
      // An older watermark is still true. The commit path reports what is wrong with the disk.
    }
  }
}

/** 0 when there is none, `undefined` when there is one that says nothing: then an end of the log may be missing. */
export async function readWatermark(path: string): Promise<number | undefined> {
  const text = await readIfThere(path);
  if (text === undefined) return 0;
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

/** As readWatermark; fails with `corrupt`. */
export async function requireWatermark(path: string, directory: string): Promise<number> {
  const acknowledged = await readWatermark(path);
  if (acknowledged === undefined) throw corrupt(directory, watermarkProblem(path));
  return acknowledged;
}

export function watermarkProblem(path: string): string {
  return `the file ${path} is not readable`;
}

/** After a repair: `revision` is where the store goes on. */
export async function replaceWatermark(path: string, revision: number): Promise<void> {
  await writeDurable(path, `${revision}\n`);
}
