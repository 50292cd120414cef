import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

const newline = Buffer.from('\n');
/** Another process writes its lines within it. */
const writingMs = 5;

/** The file that a name leads to now. One write of whole lines is never torn by another process's. */
export class Appender {
  readonly #path: string;
  #file: FileHandle | undefined;
  #inode = 0;
  /** Where the file ends for as long as nobody else writes to it: after whole lines. */
  #wholeTo = -1;

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects where nothing can be written there. */
  async open(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    this.#file = await open(this.#path, O_APPEND | O_CREAT | O_WRONLY, 0o600);
    this.#inode = (await this.#file.stat()).ino;
    this.#wholeTo = -1;
  }

  /** How long the file is, after it is seen whether the name leads to another one by now. */
  async size(): Promise<number> {
    const found = await stat(this.#path).catch(() => undefined);
    if (found !== undefined && found.ino === this.#inode && this.#file !== undefined)
      return found.isFile() ? found.size : 0;
    await this.open();
    return found?.isFile() ? found.size : 0;
  }

  /** `size`: how long the file was just now. */
  async append(bytes: Buffer, size: number): Promise<void> {
    const isWhole = size === this.#wholeTo || !(await this.#isTorn());
    const whole = isWhole ? bytes : Buffer.concat([newline, bytes]);
    this.#wholeTo = -1;
    let written = 0;
    while (written < whole.length) {
      const more = await this.#file?.write(whole, written);
      written += more?.bytesWritten ?? whole.length;
    }
    this.#wholeTo = size + whole.length;
  }

  /** What is last in it is the beginning of a line: whoever wrote it was killed, a disk was full, a machine lost its power. */
  async #isTorn(): Promise<boolean> {
    const end = await this.#end();
    if (end === undefined || end.last === newline[0]) return false;
    await setTimeout(writingMs);
    return (await this.#end())?.size === end.size;
  }

  async #end(): Promise<{ size: number; last: number } | undefined> {
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
    if (!file) return undefined;
    try {
      const found = await file.stat();
      const last = Buffer.alloc(1);
      if (!found.isFile() || found.size === 0) return undefined;
      await file.read(last, 0, 1, found.size - 1);
      return { size: found.size, last: last[0] as number };
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}
