import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const newline = Buffer.from('\n');

/** The file that a name leads to now. One write of whole lines is never torn by another process's. */
export class Appender {
  readonly #path: string;
  #file: FileHandle | undefined;
  #inode = 0;
  /** What is last in it may be the beginning of a line: a disk was full, or a machine lost its power. */
  #torn = false;

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
  }

  /** Whole lines follow what is there. */
  async mend(): Promise<void> {
    const file = await open(this.#path, 'r');
    try {
      const found = await file.stat();
      const last = Buffer.alloc(1);
      if (!found.isFile() || found.size === 0) return;
      await file.read(last, 0, 1, found.size - 1);
      this.#torn = !last.equals(newline);
    } finally {
      await file.close();
    }
  }

  /** How long the file is, after it is seen whether the name leads to another one by now. */
  async size(): Promise<number> {
    const found = await stat(this.#path).catch(() => undefined);
    if (found !== undefined && found.ino === this.#inode && this.#file !== undefined)
      return found.isFile() ? found.size : 0;
    await this.open();
    return found?.isFile() ? found.size : 0;
  }

  async append(bytes: Buffer): Promise<void> {
    const whole = this.#torn ? Buffer.concat([newline, bytes]) : bytes;
    let written = 0;
    try {
      while (written < whole.length) {
        const more = await this.#file?.write(whole, written);
        written += more?.bytesWritten ?? whole.length;
      }
      this.#torn = false;
    } catch (error) {
      this.#torn ||= written > 0;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}
