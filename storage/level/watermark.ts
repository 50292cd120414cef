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

/** 0 when there is none. */
export async function readWatermark(path: string): Promise<number> {
  const text = await readIfThere(path);
  return text !== undefined && /^\d+\n$/.test(text) ? Number(text) : 0;
}
