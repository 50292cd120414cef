import type { Logger } from '../kube/log.ts';

/** Who lost them, as kube-apiserver calls its plugins: `buffered` is the queue before them. */
export type Plugin = 'buffered' | 'log' | 'webhook' | 'receiver';

const everyMs = 60_000;

/** Counts what is lost, and tells so in the log: the first ones at once, then once a minute how many more. */
export class Lost {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #count: (plugin: Plugin, count: number) => void;
  readonly #now: () => number;
  readonly #what: string;
  readonly #told = new Map<Plugin, { at: number; since: number }>();

  constructor(
    logger: Pick<Logger, 'error'>,
    count: (plugin: Plugin, count: number) => void,
    now: () => number = Date.now,
    what = 'audit events',
  ) {
    this.#what = what;
    this.#logger = logger;
    this.#count = count;
    this.#now = now;
  }

  add(plugin: Plugin, count: number, err?: unknown): void {
    this.#count(plugin, count);
    const told = this.#told.get(plugin) ?? { at: Number.NEGATIVE_INFINITY, since: 0 };
    this.#told.set(plugin, told);
    told.since += count;
    if (this.#now() - told.at >= everyMs) this.#tell(plugin, told, err);
  }

  /** What was not told yet. */
  close(): void {
    for (const [plugin, told] of this.#told) if (told.since > 0) this.#tell(plugin, told);
  }

  #tell(plugin: Plugin, told: { at: number; since: number }, err?: unknown): void {
    const why = plugin === 'buffered' ? 'too many wait' : `the ${plugin} does not take them`;
    const values = { plugin, lost: told.since, ...(err !== undefined && { err }) };
    this.#logger.error(values, `${this.#what} are lost: ${why}`);
    told.at = this.#now();
    told.since = 0;
  }
}
