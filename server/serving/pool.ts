import { setTimeout } from 'node:timers/promises';
import type { Ledger } from '../../apiserver/limits/ledger.ts';
import type { Listening } from '../../apiserver/options.ts';
import type { Logger } from '../../kube/log.ts';
import type { Tls } from '../certificates.ts';
import type { Scraper } from '../metrics/scraper.ts';
import type { Profiles } from '../profiling/profiles.ts';
import type { Settings } from '../settings.ts';
import type { TakenFiles } from '../taken-files.ts';
import { Child } from './child.ts';
import { decide, isQuiet, type Step } from './decide.ts';
import { gauge } from './gauge.ts';

const tickMs = 1000;
/** After one ended by itself, until the next may start. */
const afterFailureMs = 30_000;
/** Requests have 60 seconds; then nobody waits any more. */
const stopMs = 65_000;

export interface PoolOptions {
  listening: Listening;
  settings: Settings;
  files: TakenFiles;
  /** With the store that they reach. */
  ledger: Ledger;
  /** What the server shows now. */
  tls: () => Tls;
  logger: Logger;
  scraper: Scraper;
  profiles: Profiles;
  /** Told how many processes serve, this one among them. */
  among(processes: number): void;
}

/** The processes that serve beside this one: none at first; more while all are busy, fewer when there is little to do. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #load;
  readonly #children: Child[] = [];
  readonly #timer: NodeJS.Timeout;
  #quietSeconds = 0;
  #failedAt = -Infinity;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#load = gauge(options.listening);
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** They show `tls` to whoever connects from now on. */
  show(tls: Tls): void {
    for (const child of this.#children) child.tell({ order: 'show', tls });
  }

  /** Their /readyz fails from now on. */
  drain(): void {
    clearInterval(this.#timer);
    for (const child of this.#children) child.tell({ order: 'drain' });
  }

  /** Has them end: requests in flight finish. Resolves when they take no more connections; see `stopped`. */
  async stop(): Promise<void> {
    this.drain();
    const children = this.#children.splice(0);
    this.#ended = Promise.all(children.map((child) => end(child)));
    await Promise.all(children.map(({ deaf }) => deaf));
  }

  async stopped(): Promise<void> {
    await this.#ended;
  }

  #tick(): void {
    const ready = this.#children.filter(({ load }) => load !== undefined);
    const loads = [this.#load(), ...ready.flatMap(({ load }) => load ?? [])];
    this.#quietSeconds = isQuiet(loads) ? this.#quietSeconds + tickMs / 1000 : 0;
    const failed = performance.now() - this.#failedAt < afterFailureMs;
    const waiting = ready.length < this.#children.length || failed;
    const most = this.#options.settings.servingProcesses;
    const step = decide({ loads, waiting, most, quietSeconds: this.#quietSeconds });
    if (step) this.#take(step, ready);
  }

  #take(step: Step, ready: readonly Child[]): void {
    const { logger, listening } = this.#options;
    if (step.do === 'start') this.#start();
    else if (step.do === 'retire') this.#retire();
    else {
      logger.debug(step, 'connections are spread anew');
      if (step.from === 0) listening.shed(step.share);
      else ready[step.from - 1]?.tell({ order: 'shed', share: step.share });
    }
  }

  #retire(): void {
    const child = this.#children.pop();
    this.#quietSeconds = 0;
    if (!child) return;
    this.#share();
    this.#options.logger.info({ pid: child.pid }, 'a serving process is not needed any more');
    void end(child);
  }

  /** One that ends finishes what it has: nobody waits for its part. */
  #share(): void {
    const processes = this.#children.length + 1;
    this.#options.among(processes);
    for (const child of this.#children) child.tell({ order: 'among', processes });
  }

  #start(): void {
    const { settings, files, listening, ledger, tls, logger, scraper, profiles } = this.#options;
    let child: Child;
    try {
      child = new Child({
        settings,
        files,
        stuck: () => logger.error({ pid: child.pid }, 'a serving process says nothing: it is killed'),
        tls: tls(),
        socket: listening.socket,
        ledger,
        scraper,
        profiles,
      });
    } catch (err) {
      this.#failedAt = performance.now();
      logger.error({ err }, 'no serving process can be started');
      return;
    }
    this.#children.push(child);
    this.#share();
    logger.info({ pid: child.pid }, 'busy: a serving process starts');
    void child.exited.then(({ code, signal, err }) => {
      const at = this.#children.indexOf(child);
      if (at < 0) return;
      this.#children.splice(at, 1);
      this.#share();
      this.#failedAt = performance.now();
      logger.error({ pid: child.pid, code, signal, err }, 'a serving process ended');
    });
  }
}

async function end(child: Child): Promise<void> {
  child.stop();
  const late = new AbortController();
  const cut = setTimeout(stopMs, undefined, { signal: late.signal, ref: false }).then(
    () => child.kill(),
    () => undefined,
  );
  await child.exited;
  late.abort();
  await cut;
}
