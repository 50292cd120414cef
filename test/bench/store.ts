/**
 * The store alone. `node dist/test/bench/store.js` prints a table:
 *
 * - durable creates of 1 KiB a second, beside LevelDB itself when all that wait share one fsynced batch;
 * - opening 100,000 and 1,000,000 objects (BENCH_OBJECTS): time, resident memory, and how long the event loop was
 *   held up at most while everything is listed and all history is watched; then 10,000 random gets, and creates.
 *
 * BENCH_SECONDS for each rate, default 5. BENCH_DIR: on which disk, default the temporary directory.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Level } from 'level';
import { boundGarbage, gatherWhileBusy } from '../../server/heap.ts';
import { openLevel } from '../../storage/level/level.ts';
import { type Figures, measure, percentile } from './measure.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);
const sizes = (process.env['BENCH_OBJECTS'] ?? '100000,1000000').split(',').map(Number);
const TURNS = 6;
const MIB = 1 << 20;
const ALL = { start: '', end: '\x7f' };

interface Opened {
  openMs: number;
  rssMiB: number;
  startRssMiB: number;
  listMs: number;
  listDelayMs: number;
  watchMs: number;
  watchDelayMs: number;
  getP50: number;
  getP99: number;
  /** With 64 writers, ms; made in the last run of a store, as they stay in it. */
  createP99: number | undefined;
  laterRssMiB: number;
}

const [, , task, directory, count, budget] = process.argv;
boundGarbage();
if (task === 'fill' && directory) await fill(directory, Number(count));
else if (task === 'open' && directory) process.send?.(await open(directory, Number(count), Number(budget)));
else {
  gatherWhileBusy();
  await main();
}

async function main(): Promise<void> {
  const root = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'atoll-bench-'));
  try {
    for (const writers of [64, 512]) await compareWrites(root, writers);
    for (const size of sizes) {
      const data = join(root, `objects-${size}`);
      await child('fill', data, size);
      await report(data, size, Infinity);
      await report(data, size, Math.min(1024, Math.floor(size / 2048)) * MIB);
      await rm(data, { recursive: true });
    }
  } finally {
    await rm(root, { recursive: true });
  }
}

async function compareWrites(root: string, writers: number): Promise<void> {
  const ours: Figures[] = [];
  const raw: Figures[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    // Neither is always the one that comes after the other's leftovers.
    if (turn % 2 === 0) raw.push(await rawWrites(join(root, `raw-${writers}-${turn}`), writers));
    ours.push(await storeWrites(join(root, `store-${writers}-${turn}`), writers));
    if (turn % 2 === 1) raw.push(await rawWrites(join(root, `raw-${writers}-${turn}`), writers));
  }
  const mean = (runs: Figures[], field: keyof Figures) =>
    runs.reduce((sum, run) => sum + run[field], 0) / runs.length;
  const ratio = mean(ours, 'perSecond') / mean(raw, 'perSecond');
  const show = (runs: Figures[]) =>
    `${mean(runs, 'perSecond').toFixed(0)}/s, p99 ${mean(runs, 'p99').toFixed(1)} ms`;
  print(
    `durable creates, ${writers} writers`,
    `store ${show(ours)}`,
    `LevelDB ${show(raw)}`,
    `${(ratio * 100).toFixed(0)} %`,
  );
}

async function storeWrites(data: string, writers: number): Promise<Figures> {
  const store = await openLevel(data);
  const value = Buffer.alloc(1024, 'x');
  const figures = await measure(writers, seconds / TURNS, (i) =>
    store.create(`/core/configmaps/root/default/c${i}`, value),
  );
  await store.close();
  await rm(data, { recursive: true });
  return figures;
}

/**
 * What LevelDB gives to a program that does nothing else: one batch in flight, everybody who waits is in the next. It
 * writes the key and the value alone, checks and keeps nothing, and does not sync the folder for the name of a new log,
 * so that a power cut can take what it answered. The store's keys on disk only rise, which is less for LevelDB to sort.
 */
async function rawWrites(data: string, writers: number): Promise<Figures> {
  const db = new Level<string, Buffer>(data, { valueEncoding: 'buffer' });
  await db.open({ compression: false });
  const value = Buffer.alloc(1024, 'x');
  let waiting: { key: string; resolve: () => void }[] = [];
  let running = false;
  const run = async (): Promise<void> => {
    for (let jobs = waiting; jobs.length > 0; jobs = waiting) {
      waiting = [];
      const batch = db.batch();
      for (const { key } of jobs) batch.put(key, value);
      await batch.write({ sync: true });
      for (const { resolve } of jobs) resolve();
      await new Promise(setImmediate);
    }
    running = false;
  };
  const put = (key: string) =>
    new Promise<void>((resolve) => {
      waiting.push({ key, resolve });
      if (running) return;
      running = true;
      setImmediate(() => void run());
    });
  const figures = await measure(writers, seconds / TURNS, (i) => put(`/core/configmaps/root/default/c${i}`));
  await db.close();
  await rm(data, { recursive: true });
  return figures;
}

async function report(data: string, size: number, memoryBudget: number): Promise<void> {
  const opened = await child('open', data, size, memoryBudget);
  const rss = opened.rssMiB / ((size * 1024) / MIB);
  print(
    `${size} objects of 1 KiB, budget ${memoryBudget === Infinity ? 'all' : `${memoryBudget / MIB} MiB`}`,
    `open ${opened.openMs.toFixed(0)} ms`,
    `RSS ${opened.rssMiB.toFixed(0)} MiB, ${rss.toFixed(2)}x the bytes, ${opened.startRssMiB.toFixed(0)} before`,
    `list of all ${opened.listMs.toFixed(0)} ms, loop held up ${opened.listDelayMs.toFixed(1)} ms`,
    `watch of all history ${opened.watchMs.toFixed(0)} ms, loop held up ${opened.watchDelayMs.toFixed(1)} ms`,
    `random gets p50 ${opened.getP50.toFixed(0)} us, p99 ${opened.getP99.toFixed(0)} us`,
    `64 writers then p99 ${opened.createP99?.toFixed(0) ?? '-'} ms, RSS ${opened.laterRssMiB.toFixed(0)} MiB`,
  );
}

async function child(task: 'fill' | 'open', ...args: (string | number)[]): Promise<Opened> {
  const started = fork(process.argv[1] ?? '', [task, ...args.map(String)]);
  let answer: Opened | undefined;
  started.on('message', (message) => {
    answer = message as Opened;
  });
  const [code] = await once(started, 'exit');
  if (code !== 0) throw new Error(`${task} ended with ${code}`);
  return answer as Opened;
}

async function fill(data: string, objects: number): Promise<void> {
  const store = await openLevel(data, { sync: false, memoryBudget: 64 * MIB });
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let i = next++; i < objects; i = next++) await store.create(keyOf(i), Buffer.alloc(1024, `${i} `));
  };
  await Promise.all(Array.from({ length: 2048 }, writer));
  await store.close();
}

function keyOf(i: number): string {
  return `/core/configmaps/lc-${i % 100}/default/object-${i}`;
}

async function open(data: string, objects: number, memoryBudget: number): Promise<Opened> {
  const startRssMiB = process.memoryUsage().rss / MIB;
  const began = performance.now();
  const store = await openLevel(data, { memoryBudget });
  const openMs = performance.now() - began;
  await sleep(1000);
  const rssMiB = process.memoryUsage().rss / MIB;
  const list = await held(async () => {
    const { entries } = await store.list(ALL);
    if (entries.length !== objects) throw new Error(`${entries.length} entries`);
  });
  const watch = await held(async () => {
    let events = 0;
    await store.watch(ALL, { after: store.compacted, sink: (batch) => (events += batch.length) });
    if (events !== store.revision - store.compacted) throw new Error(`${events} events`);
  });
  const gets: number[] = [];
  for (let i = 0; i < 10_000; i++) {
    const since = performance.now();
    await store.get(keyOf((i * 7919) % objects));
    gets.push((performance.now() - since) * 1000);
  }
  const value = Buffer.alloc(1024, 'x');
  const create = (i: number) => store.create(`/core/configmaps/new/default/c${i}`, value);
  const creates = memoryBudget === Infinity ? undefined : await measure(64, 1, create);
  const laterRssMiB = process.memoryUsage().rss / MIB;
  await store.close();
  return {
    openMs,
    rssMiB,
    startRssMiB,
    laterRssMiB,
    getP50: percentile(gets, 50),
    getP99: percentile(gets, 99),
    createP99: creates?.p99,
    listMs: list.ms,
    listDelayMs: list.delayMs,
    watchMs: watch.ms,
    watchDelayMs: watch.delayMs,
  };
}

/** How long work takes, and how long nothing else got its turn meanwhile. */
async function held(work: () => Promise<void>): Promise<{ ms: number; delayMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(20);
  delay.reset();
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  await sleep(20);
  delay.disable();
  return { ms, delayMs: delay.max / 1e6 };
}

function print(...cells: string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
