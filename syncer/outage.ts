import { TransportError } from '../client/errors.ts';
import type { Logger } from '../kube/log.ts';

/**
 * Tells of the times in which a physical cluster does not answer: one line as one begins, one when it is over. All that
 * fails meanwhile for that reason is for who looks closer.
 */
export class Outage {
  readonly #name: string;
  readonly #logger: Logger;
  #since: number | undefined;
  #answered: (isBack: boolean) => void = () => {};
  #failed: () => void = () => {};

  constructor(name: string, logger: Logger) {
    this.#name = name;
    this.#logger = logger;
  }

  /** Told of each heartbeat that was answered; `isBack`: those before were not. */
  onAnswer(answered: (isBack: boolean) => void): void {
    this.#answered = answered;
  }

  /** Told of each heartbeat that was not answered. */
  onFailure(failed: () => void): void {
    this.#failed = failed;
  }

  /** What the last heartbeat found: why the cluster does not answer, or that it does. */
  heard(error: string | undefined): void {
    const physicalCluster = this.#name;
    if (error === undefined) this.#answered(this.#since !== undefined);
    else this.#failed();
    if (error !== undefined && this.#since === undefined) {
      this.#since = Date.now();
      this.#logger.warn({ physicalCluster, error }, 'a physical cluster does not answer');
    } else if (error === undefined && this.#since !== undefined) {
      const seconds = Math.round((Date.now() - this.#since) / 1000);
      this.#since = undefined;
      this.#logger.info({ physicalCluster, seconds }, 'a physical cluster answers again');
    }
  }

  /** For whatever works with the cluster: each line says which one it is. */
  logger(): Logger {
    const named = (fields: object) => ({ physicalCluster: this.#name, ...fields });
    return {
      debug: (fields, message) => this.#logger.debug(named(fields), message),
      info: (fields, message) => this.#logger.info(named(fields), message),
      warn: (fields, message) =>
        this.#logger[this.#explains(fields) ? 'debug' : 'warn'](named(fields), message),
      error: (fields, message) => this.#logger.error(named(fields), message),
    };
  }

  /** What goes wrong on the way there the heartbeat finds, too, and tells once. */
  #explains({ err }: { err?: unknown }): boolean {
    return err instanceof TransportError || (err !== undefined && this.#since !== undefined);
  }
}
