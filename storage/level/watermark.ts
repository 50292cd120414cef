import { corrupt } from './errors.ts';
import { readIfThere, writeDurable } from './files.ts';

const INTERVAL_MS = 1000;

/**
 * A file outside LevelDB with a revision that was acknowledged, at most about a second old; `end` behind it says
 * that it is the last one, as the store was closed. LevelDB opens a damaged log by silently leaving out its end;
 * with the watermark a missing end is noticed.
 */
export class Watermark {
  readonly #path: string;
  #written = '';
  #writtenAt = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** After a commit. Starts a write when the last one is old enough; never waits, never fails. */
  note(revision: number, now: number): void {
    if (this.#writing !== undefined || now - this.#writtenAt < INTERVAL_MS) return;
    this.#writtenAt = now;
    this.#writing = this.#write(`${revision}\n`).finally(() => {
      this.#writing = undefined;
    });
  }

  /** Before the first write: what is noted is not the end any more. */
  async begin(revision: number): Promise<void> {
    await this.#write(`${revision}\n`);
  }

  /** Before the store closes, when nothing is written any more. */
  async finish(revision: number): Promise<void> {
    await this.#writing;
    await this.#write(`${revision} end\n`);
  }

  async #write(text: string): Promise<void> {
    if (text === this.#written) return;
    try {
      await writeDurable(this.#path, text);
      this.#written = text;
    } catch {
      // An older watermark is still true. The commit path reports what is wrong with the disk.
    }
  }
}

export interface Noted {
  readonly revision: number;
  /** Whether nothing was acknowledged after it. */
  readonly isEnd: boolean;
}

/** Revision 0 when there is none, `undefined` when there is one that says nothing: then an end of the log may be missing. */
export async function readWatermark(path: string): Promise<Noted | undefined> {
  const text = await readIfThere(path);
  if (text === undefined) return { revision: 0, isEnd: false };
  const [, digits, end] = /^(\d+)( end)?\n$/.exec(text) ?? [];
  return digits === undefined ? undefined : { revision: Number(digits), isEnd: end !== undefined };
}

/** As readWatermark; fails with `corrupt`. */
export async function requireWatermark(path: string, directory: string): Promise<Noted> {
  const noted = await readWatermark(path);
  if (noted === undefined) throw corrupt(directory, watermarkProblem(path));
  return noted;
}

export function watermarkProblem(path: string): string {
  return `the file ${path} is not readable`;
}

/** After a repair: `revision` is where the store goes on. */
export async function replaceWatermark(path: string, revision: number): Promise<void> {
  await writeDurable(path, `${revision} end\n`);
}
