import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { backup } from '../../storage/backup.ts';
import { openDisk } from '../../storage/level/disk.ts';
import { startLevel } from '../../storage/level/level.ts';
import { Clients, type Load } from './clients.ts';
import { recordTo } from './journal.ts';
import { DISK_BUGS, instrument, STORE_BUGS, type Step, Steps } from './steps.ts';

/** One life of a store: what the process under test is told to do. */
export interface Life extends Load {
  readonly directory: string;
  readonly journal: string;
  readonly sync: boolean;
  readonly historyEvents: number;
  readonly step: Step | undefined;
  readonly nth: number;
  /** Die by itself after so long, when nothing else killed it. */
  readonly ms: number;
  /** Take a backup to this file meanwhile. */
  readonly backup: string | undefined;
  /** Close the store in the end, and die after that, or while at it. */
  readonly close: boolean;
  /** The file that limits the disk, and what to do with it, in turn. */
  readonly quota: { readonly file: string; readonly fills: readonly number[] } | undefined;
  readonly bug: string | undefined;
}

const life = JSON.parse(process.argv[2] ?? '') as Life;
const record = recordTo(life.journal);
const steps = new Steps(life.step, life.nth);
const disk = await openDisk(life.directory, life.sync);
steps.reach('opened');
if (life.bug !== undefined) DISK_BUGS[life.bug]?.(disk);
instrument(disk, steps);
const store = await startLevel(disk, { historyEvents: life.historyEvents, reserveBytes: 0 });
steps.reach('loaded');
if (life.bug !== undefined) STORE_BUGS[life.bug]?.(store, disk);
const stop = new AbortController();
const clients = new Clients(
  store,
  life,
  (line) => {
    record(line);
    if (line[0] === 'event') steps.reach('told');
  },
  stop.signal,
);
clients.onAcknowledged = () => steps.reach('acknowledged');
const running = clients.run();
if (life.backup !== undefined) {
  await sleep(life.ms / 4);
  const saved = backup(store, life.backup);
  steps.reach('backup-begun');
  const { revision } = await saved;
  record(['note', `backup ${life.backup} ${revision}`]);
}
if (life.quota !== undefined) await fillAndFree(life.quota);
await sleep(life.ms);
if (life.close) {
  stop.abort();
  steps.reach('closing');
  await store.close();
  steps.reach('closed');
  record(['note', 'closed']);
  await running;
}
process.kill(process.pid, 'SIGKILL');

/** Lets the disk become full, frees it, and waits until the store accepts writes again, by itself. */
async function fillAndFree({ file, fills }: NonNullable<Life['quota']>): Promise<void> {
  const quota = openSync(file, 'r+');
  const set = (bytes: number): void => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(BigInt(bytes));
    writeSync(quota, buffer, 0, 8, 0);
  };
  for (const bytes of fills) {
    const { refused } = clients;
    set(bytes);
    await until(() => clients.refused > refused, 'the full disk was not noticed');
    await sleep(life.ms / 4);
    set(-1);
    const { acknowledged } = clients;
    await until(() => clients.acknowledged > acknowledged + 20, 'no writes after the disk had room again');
    record(['note', 'recovered']);
  }
  closeSync(quota);
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) {
      process.stderr.write(`${what}\n`);
      process.exit(3);
    }
    await sleep(2);
  }
}
