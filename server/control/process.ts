import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../../kube/log.ts';
import { type Served, serveStore } from '../../storage/pipe/serve.ts';
import type { Store } from '../../storage/store.ts';
import { controlArgs } from '../heap.ts';
import { Remote } from '../metrics/remote.ts';
import type { Scraper } from '../metrics/scraper.ts';
import type { Profiles } from '../profiling/profiles.ts';
import { RemoteProfiler } from '../profiling/remote.ts';
import type { Settings } from '../settings.ts';
import type { TakenFiles } from '../taken-files.ts';
import { type Order, type Report, storeDescriptor } from './messages.ts';
import { feelPulse } from './pulse.ts';
import { Restarts } from './restarts.ts';

const program = fileURLToPath(new URL('./main.js', import.meta.url));
/** What controllers have begun takes less; a physical cluster that does not answer is not waited for. */
const stopMs = 10_000;
/** A third of a processor where somebody else wants all of it. */
const niceness = 5;

export interface ControlOptions {
  store: Store;
  settings: Settings;
  files: TakenFiles;
  rootCa: string;
  url: string;
  logger: Logger;
  scraper: Scraper;
  profiles: Profiles;
}

/**
 * Controllers and syncers in a process of their own: while they work through a thousand new Deployments, users are answered.
 * One that ends by itself, or is stuck, is followed by another, which takes up the work where the store says that it stands.
 * Decision 0028.
 */
export class ControlProcess {
  readonly #options: ControlOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    tell(this.#child, { order: 'stop' });
    const cut = new AbortController();
    const late = setTimeout(stopMs, undefined, { signal: cut.signal, ref: false }).then(
      () => this.#child?.kill('SIGKILL'),
      () => undefined,
    );
    await this.#running;
    cut.abort();
    await late;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const restarts = new Restarts();
    while (!signal.aborted) {
      const began = performance.now();
      const exit = await this.#once();
      if (signal.aborted) return;
      const waitMs = restarts.after(performance.now() - began);
      this.#options.logger.error(
        { ...exit, waitMs },
        'the process of the controllers ended: another one starts',
      );
      await setTimeout(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #once(): Promise<object> {
    const { store, settings, files, rootCa, url, logger, scraper, profiles } = this.#options;
    return new Promise((resolve) => {
      let child: ChildProcess;
      let served: Served | undefined;
      try {
        child = fork(program, [], {
          execArgv: controlArgs(process.execArgv),
          // Nothing but audit events goes to stdout.
          stdio: [
            'ignore',
            settings.audit?.log?.path === '-' ? process.stdout : process.stderr,
            process.stderr,
            'ipc',
            'pipe',
          ],
          serialization: 'json',
        });
      } catch (err) {
        return resolve({ err });
      }
      child.on('exit', async (code, by) => {
        await served?.died();
        resolve({ pid: child.pid, code, signal: by });
      });
      child.on('error', (err) => {
        if (child.pid === undefined) resolve({ err });
      });
      if (child.pid === undefined) return;
      this.#child = child;
      yieldToUsers(child.pid);
      served = serveStore(store, child.stdio[storeDescriptor] as Duplex);
      logger.info({ pid: child.pid }, 'controllers and syncers have a process of their own');
      tell(child, { order: 'control', settings, texts: files.texts, rootCa, url });
      countIn(child, scraper, profiles);
      feelPulse(child, () => {
        logger.error({ pid: child.pid }, 'the process of the controllers says nothing: it is killed');
        child.kill('SIGKILL');
      });
    });
  }
}

function tell(child: ChildProcess | undefined, order: Order): void {
  if (child?.connected) child.send(order);
}

/** What it counts is part of what the server counts; how it spends its time can be asked for. */
function countIn(child: ChildProcess, scraper: Scraper, profiles: Profiles): void {
  const counted = new Remote(() => tell(child, { order: 'measure' }));
  counted.ready = true;
  const name = scraper.join('control', counted);
  const profiler = new RemoteProfiler((id, question) => tell(child, { order: 'profile', id, question }));
  profiles.join(name, profiler);
  child.on('message', (said: Report) => {
    if (said === 'here') return;
    if ('profiled' in said) profiler.answered(said.id, said.profiled);
    else counted.heard(said.families);
  });
  // What it said at its end comes before that.
  child.on('disconnect', () => {
    scraper.leave(counted);
    profiles.leave(name, profiler);
  });
}

/** Where processors are short, those who wait for an answer come first. */
function yieldToUsers(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already.
  }
}
