import { type ChildProcess, fork } from 'node:child_process';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Ledger } from '../../apiserver/limits/ledger.ts';
import type { Question } from '../../apiserver/limits/questions.ts';
import { serveStore } from '../../storage/pipe/serve.ts';
import type { Tls } from '../certificates.ts';
import { feelPulse } from '../control/pulse.ts';
import { Remote } from '../metrics/remote.ts';
import type { Scraper } from '../metrics/scraper.ts';
import type { Profiles } from '../profiling/profiles.ts';
import { RemoteProfiler } from '../profiling/remote.ts';
import type { Question as ProfileQuestion } from '../profiling/types.ts';
import type { Settings } from '../settings.ts';
import type { TakenFiles } from '../taken-files.ts';
import type { Load } from './decide.ts';
import { type Order, type Report, storeDescriptor } from './messages.ts';

const program = fileURLToPath(new URL('./main.js', import.meta.url));

export interface ChildOptions {
  settings: Settings;
  files: TakenFiles;
  /** Told before it is killed for saying nothing any more. */
  stuck(): void;
  tls: Tls;
  socket: Server;
  /** With the store that it reaches. */
  ledger: Ledger;
  scraper: Scraper;
  profiles: Profiles;
}

/** Its code, or the signal that killed it, or why it was never there. */
interface Exit {
  code: number | null;
  signal: string | null;
  err?: Error;
}

/** A process beside the first, as the first sees it. */
export class Child {
  readonly #process: ChildProcess;
  readonly exited: Promise<Exit>;
  /** It takes no more connections, or never will. */
  readonly deaf: Promise<unknown>;
  /** Undefined until it serves. */
  load: Load | undefined;
  #listens = false;

  /** It listens at `socket`, too, and reaches the ledger's store through a pipe. */
  constructor({ settings, files, stuck, tls, socket, ledger, scraper, profiles }: ChildOptions) {
    this.#process = fork(program, [], {
      // On few processors, threads that collect garbage stand in the way of those that serve.
      execArgv: [...process.execArgv, '--v8-pool-size=1'],
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
    this.exited = exitOf(this.#process);
    this.deaf = this.exited;
    if (this.pid === undefined) return;
    serveStore(ledger.store, this.#process.stdio[storeDescriptor] as Duplex);
    const counted = new Remote(() => this.tell({ order: 'measure' }));
    const name = scraper.join('serving', counted, true);
    const profiler = new RemoteProfiler((id, question) => this.tell({ order: 'profile', id, question }));
    profiles.join(name, profiler);
    // What it said at its end comes before that.
    this.#process.on('disconnect', () => {
      scraper.leave(counted);
      profiles.leave(name, profiler);
      ledger.leave(this);
    });
    const deaf = new Promise<void>((resolve) => {
      this.#process.on('message', (said: Report) => {
        if (said.report === 'deaf') resolve();
        else if (said.report === 'prepared') this.#listen(socket);
        else if (said.report === 'measured') counted.heard(said.families);
        else if (said.report === 'asked') void this.#tellOf(said, ledger);
        else if (said.report === 'profiled') profiler.answered(said.id, said.answer);
        else if (said.report === 'profile') void this.#profile(said, profiles);
        else if (said.report === 'scraped') void this.#answer(said, scraper);
        else {
          counted.ready = true;
          this.load = said.report === 'load' ? said.load : { busy: 0, requests: 0, connections: 0 };
        }
      });
    });
    this.deaf = Promise.race([deaf, this.exited]);
    feelPulse(this.#process, () => {
      stuck();
      this.kill();
    });
    this.tell({ order: 'serve', settings, texts: files.texts, tls });
  }

  async #answer(
    { id, accept, only }: { id: number; accept: string; only?: 'slis' },
    scraper: Scraper,
  ): Promise<void> {
    this.tell({ order: 'page', id, page: await scraper.page(accept, only) });
  }

  async #profile(
    { id, question }: { id: number; question: ProfileQuestion },
    profiles: Profiles,
  ): Promise<void> {
    this.tell({ order: 'profiled', id, answer: await profiles.take(question) });
  }

  async #tellOf({ id, question }: { id: number; question: Question }, ledger: Ledger): Promise<void> {
    try {
      this.tell({ order: 'told', id, answer: await ledger.answer(question, this) });
    } catch (error) {
      this.tell({ order: 'told', id, failed: (error as Error).message });
    }
  }

  #listen(socket: Server): void {
    this.#listens = true;
    this.#process.send({ order: 'listen' } satisfies Order, socket, { keepOpen: true });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  tell(order: Order): void {
    if (this.#process.connected) this.#process.send(order);
  }

  /** Nobody is connected to one that does not listen yet: that one is not waited for. */
  stop(): void {
    if (this.#listens) this.tell({ order: 'stop' });
    else this.kill();
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** For want of processes or descriptors there may be none: it has no id then, fails, and never exits. */
function exitOf(process: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    process.on('exit', (code, signal) => resolve({ code, signal }));
    process.on('error', (err) => {
      if (process.pid === undefined) resolve({ code: null, signal: null, err });
    });
  });
}
