import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { restore } from '../../storage/backup.ts';
import { openLevel } from '../../storage/level/level.ts';
import { verifyLevel } from '../../storage/level/verify.ts';
import { prefixRange, type Range, type Store, StoreError } from '../../storage/store.ts';
import { checkChanges, Replay } from './changes.ts';
import { check } from './check.ts';
import type { Life } from './child.ts';
import { ALL, list } from './clients.ts';
import { type DiskFaults, diskEnvironment } from './disk/disk.ts';
import { changeOf, decodeValue, digestOf, type Line, named, type Recorder, readJournal } from './journal.ts';
import type { Run, RunResult } from './part.ts';
import { Random } from './random.ts';

const CHILD = resolve(import.meta.dirname, 'child.js');
const LONGEST_MS = 60_000;

/** Several lives of one store, each ended by force, and everything that anybody was told in them. */
export class Trial {
  readonly run: Run;
  readonly random: Random;
  readonly counts: Record<string, number> = {};
  readonly failures: string[] = [];
  /** Where the store is; a power cut moves it. */
  data: string;
  deaths = 0;
  readonly #library: string;
  readonly #lines: Line[] = [];
  #lives = 0;

  constructor(run: Run, library: string) {
    this.run = run;
    this.random = new Random(run.seed);
    this.data = join(run.directory, 'data');
    this.#library = library;
  }

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  /** A usual load, from the seed. */
  life(changes: Partial<Life> = {}): Life {
    const { random, run } = this;
    const life = `L${++this.#lives}`;
    return {
      directory: this.data,
      journal: join(run.directory, `${life}.journal`),
      sync: true,
      life,
      seed: random.bits(),
      writers: 64,
      hotKeys: 10,
      coldKeys: 1000,
      watchers: 6,
      valueBytes: random.pick([60, 300, 1000, 20_000]),
      after: this.#newest(),
      historyEvents: random.pick([200, 2000, 100_000]),
      step: undefined,
      nth: 0,
      ms: random.between(30, 150),
      backup: undefined,
      close: false,
      quota: undefined,
      bug: run.bug,
      ...changes,
    };
  }

  /** Lives one life to its end, which must be SIGKILL. */
  async live(life: Life, faults: Omit<DiskFaults, 'directory'>): Promise<void> {
    const environment = diskEnvironment(this.#library, { ...faults, directory: life.directory });
    const { signal, stderr } = await runChild(life, environment);
    this.deaths++;
    if (existsSync(life.journal)) this.#lines.push(...readJournal(life.journal));
    if (signal !== 'SIGKILL') this.failures.push(`the process ended by itself: ${stderr.slice(-2000)}`);
  }

  /** Counts at which kind of change the disk struck. */
  async countSteps(file: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      const [, what, kind] = line.split(' ');
      if (kind !== undefined) this.count(`${what}@${kind}`);
    }
    await rm(file, { force: true });
  }

  /** Opens the store as after any crash, and has a look at everything. False when it was refused. */
  async look(): Promise<boolean> {
    const id = `P${this.#lives}`;
    const record: Recorder = (line) => this.#lines.push(line);
    let store: Store;
    try {
      store = await openLevel(this.data, { reserveBytes: 0 });
    } catch (error) {
      this.failures.push(`the store did not open: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
    try {
      await this.#look(store, id, record);
    } finally {
      await store.close();
    }
    const { ok, problems } = await verifyLevel(this.data);
    if (!ok) this.failures.push(`verify finds: ${problems.join('; ')}`);
    return true;
  }

  /** Checks all that was told in all lives. */
  async finish(): Promise<RunResult> {
    const { ops, failures } = check(this.#lines, { contiguous: true });
    await this.#checkBackups();
    return {
      ops,
      faults: this.deaths,
      failures: [...this.failures, ...failures],
      counts: this.counts,
    };
  }

  async #look(store: Store, id: string, record: Recorder): Promise<void> {
    const after = this.#newest();
    if (after > store.revision) {
      this.failures.push(
        `a watch was told of revision ${after}; after the crash the newest is ${store.revision}`,
      );
      return;
    }
    const resumes = this.#watches();
    await watchUntilNow(store, `${id}.all`, ALL, after, record);
    for (const [i, { range, told }] of resumes.entries()) {
      if (told >= store.compacted) await watchUntilNow(store, `${id}.r${i}`, range, told, record);
      else await this.#mustBeCompacted(store, range, told);
    }
    const keys = new Set(this.#lines.flatMap((line) => (line[0] === 'call' ? [line[2]] : [])));
    for (const key of keys) {
      record(['call', `${id}.${key}`, key, { op: 'get' }]);
      const entry = await store.get(key);
      const value = entry && { revision: entry.revision, value: decodeValue(entry.value) };
      record(['done', `${id}.${key}`, value ? { result: 'found', ...value } : { result: 'absent' }]);
    }
    await list(store, `${id}.l`, ALL, undefined, record);
    for (let i = 0; i < 3; i++) {
      const at = this.random.between(store.compacted, store.revision);
      await list(store, `${id}.l${i}`, prefixRange(this.random.pick(['/', '/hot/', '/cold/3'])), at, record);
    }
  }

  async #mustBeCompacted(store: Store, range: Range, after: number): Promise<void> {
    try {
      (await store.watch(range, { after, sink: () => {} }))();
      this.failures.push(
        `a watch after ${after} was not refused, with history before ${store.compacted} gone`,
      );
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'compacted') throw error;
    }
  }

  /** The newest revision that is known from events. */
  #newest(): number {
    let newest = 0;
    for (const line of this.#lines) if (line[0] === 'event') newest = Math.max(newest, line[2].revision);
    return newest;
  }

  /** The watches of the last life, with what each was told last. */
  #watches(): { range: Range; told: number }[] {
    const mine = `L${this.#lives}.w`;
    const watches = new Map<string, { range: Range; told: number }>();
    for (const line of this.#lines) {
      if (line[0] === 'watch' && line[1].startsWith(mine)) {
        watches.set(line[1], { range: { start: line[2], end: line[3] }, told: line[4] });
      } else if (line[0] === 'event') {
        const watch = watches.get(line[1]);
        if (watch !== undefined) watch.told = line[2].revision;
      }
    }
    return [...watches.values()].slice(-12);
  }

  /** A backup that was finished restores to what was there; one that was cut off is refused. */
  async #checkBackups(): Promise<void> {
    const replay = new Replay(checkChanges(this.#lines, true).changes);
    for (let life = 1; life <= this.#lives; life++) {
      const file = backupOf(this.run, life);
      // Taken as it is left by who was killed, it must be refused.
      const left = [file, `${file}.partial`].find((name) => existsSync(name));
      if (left === undefined) continue;
      const note = this.#lines.find((line) => line[0] === 'note' && line[1].startsWith(`backup ${file} `));
      const target = join(this.run.directory, `restored-${life}`);
      try {
        const { revision } = await restore(left, target, { bump: 1000 });
        const store = await openLevel(target, { reserveBytes: 0 });
        const { entries } = await store.list(ALL);
        await store.close();
        const same = digestOf(entries.map(named)) === replay.digest(revision - 1000, ALL.start, ALL.end);
        if (!same) this.failures.push(`backup ${life} is not what was there at revision ${revision - 1000}`);
        this.count('backups restored');
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error;
        if (note !== undefined) this.failures.push(`a finished backup was refused: ${error.message}`);
        this.count('backups cut off');
      }
      await rm(target, { recursive: true, force: true });
    }
  }
}

export function backupOf(run: Run, life: number): string {
  return join(run.directory, `backup-L${life}`);
}

async function watchUntilNow(store: Store, id: string, range: Range, after: number, record: Recorder) {
  record(['watch', id, range.start, range.end, after]);
  const stop = await store.watch(range, {
    after,
    sink: (events) => {
      for (const event of events) record(['event', id, changeOf(event)]);
    },
  });
  stop();
  record(['mark', id, store.revision]);
}

async function runChild(
  life: Life,
  environment: Record<string, string>,
): Promise<{ signal: NodeJS.Signals | null; stderr: string }> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(life)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const timer = setTimeout(() => {
    stderr += 'it took too long';
    child.kill('SIGTERM');
  }, LONGEST_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      clearTimeout(timer);
      resolve({ signal, stderr });
    });
  });
}
