import { rename } from 'node:fs/promises';
import type { Logger } from '../../kube/log.ts';
import { Appender } from './appender.ts';
import { tidy } from './backups.ts';
import { Waiting } from './lines.ts';
import type { AuditSettings } from './settings.ts';

/** What may wait to be written; beyond, events are dropped, not waited for. */
const mostWaiting = 16 * 1024 * 1024;
const batchBytes = 768 * 1024;
const batchMs = 50;
/** How often who puts full files aside looks how long the file is, which others write to. */
const lookMs = 5_000;

export interface LogFileOptions {
  settings: NonNullable<AuditSettings['log']>;
  /** Whether this process puts full files aside: of those that write to one file, one does. */
  rotates: boolean;
  logger: Logger;
  lookMs?: number;
  /** Told of events that are lost: there was no room for them, or `error` is why. */
  dropped(count: number, error?: unknown): void;
}

/**
 * A file of lines. Every process of a server appends to it by itself. One process alone renames a full file; the others see
 * before their next write that the name leads to another one. What they write meanwhile is in the old file, and in none twice.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  readonly #file: Appender | undefined;
  readonly #waiting = new Waiting();
  #timer: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> | undefined;
  #closing = false;

  constructor(options: LogFileOptions) {
    const { path } = options.settings;
    this.#options = options;
    this.#file = path === '-' ? undefined : new Appender(path);
  }

  /** Rejects where nothing can be written there. */
  async open(): Promise<void> {
    await this.#file?.open();
    if (!this.#file || !this.#options.rotates) return;
    this.#tidy();
    this.#looking = setInterval(() => this.#begin(), this.#options.lookMs ?? lookMs).unref();
  }

  write(line: string): void {
    if (this.#waiting.bytes > mostWaiting) return void this.#options.dropped(1);
    this.#waiting.add(line);
    if (this.#waiting.bytes > batchBytes) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), batchMs).unref();
  }

  /** Resolves when all that came before is written, or was not to be written. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#looking);
    this.#begin();
    await this.#writing;
    await this.#tidying;
    await this.#file?.close();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.bytes > 0) this.#timer ??= setTimeout(() => this.#begin(), batchMs).unref();
    });
  }

  async #writeAll(): Promise<void> {
    // It is others who write, where this process has no events of its own.
    if (this.#waiting.bytes === 0 && this.#file && this.#options.rotates)
      await this.#makeRoom(this.#file, 1).catch((err: unknown) =>
        this.#options.logger.error({ err }, 'the audit log cannot be put aside'),
      );
    do {
      for (const lines of this.#waiting.take()) {
        await this.#put(lines.bytes).catch((error: unknown) => this.#options.dropped(lines.count, error));
        this.#waiting.give(lines);
      }
    } while (this.#waiting.bytes > (this.#closing ? 0 : batchBytes));
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#file === undefined) {
      await new Promise<void>((resolve, reject) =>
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve())),
      );
      return;
    }
    const size = await this.#makeRoom(this.#file, bytes.length);
    await this.#file.append(bytes, size);
  }

  /** How long the file is then. */
  async #makeRoom(file: Appender, more: number): Promise<number> {
    const { settings, rotates } = this.#options;
    const size = await file.size();
    if (!rotates || settings.maxBytes === 0 || size === 0 || size + more <= settings.maxBytes) return size;
    await rename(settings.path, backupName(settings.path, new Date()));
    await file.open();
    this.#tidy();
    return 0;
  }

  /** Beside what is written: to pack a file takes seconds. */
  #tidy(): void {
    const { settings, logger } = this.#options;
    this.#tidying ??= tidy(settings, Date.now())
      .catch((err: unknown) => logger.error({ err }, 'old audit logs cannot be tidied up'))
      .finally(() => {
        this.#tidying = undefined;
      });
  }
}

/** `audit-2026-01-02T03-04-05.678.log`, as kube-apiserver names them. */
export function backupName(path: string, at: Date): string {
  const [, before = '', extension = ''] = /^(.*?)(\.[^./]*)?$/s.exec(path) ?? [];
  return `${before}-${at.toISOString().slice(0, -1).replaceAll(':', '-')}${extension}`;
}
