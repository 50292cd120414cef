import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLevel } from '../../../storage/level/level.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { serveStore } from '../../../storage/pipe/serve.ts';
import type { Store } from '../../../storage/store.ts';
import { pipeTo } from '../../contract/pipes.ts';
import { record } from '../../contract/store.ts';
import { until } from '../../contract/until.ts';
import { check } from '../../fault/check.ts';
import { Clients, ALL as WHOLE } from '../../fault/clients.ts';
import { changeOf, type Line } from '../../fault/journal.ts';
import { compile } from '../compile.ts';

const ALL = { start: '', end: '\x7f' };

/** Writes through the pipe for ever, watches, holds a lease, and tells its parent what was acknowledged. */
const CHILD = `
import { Socket } from 'node:net';
import { openPipe } from './storage/pipe/pipe.js';
const store = await openPipe(new Socket({ fd: 4, readable: true, writable: true }));
const lease = await store.acquire('leader', 600_000);
let seen = 0;
for (let i = 0; i < 20; i++) {
  await store.watch({ start: '', end: '\\x7f' }, { after: 0, sink: (events) => { seen += events.length; } });
}
for (let w = 0; w < 16; w++) {
  void (async () => {
    for (let i = 0; ; i++) {
      const { key, revision } = await store.create(['/w', process.pid, w, i].join('/'), Buffer.alloc(1000), { holding: lease });
      process.send({ key, revision, seen });
    }
  })();
}
`;

describe('a process behind a pipe', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pipe-child-'));
    await compile(['storage'], directory);
    await writeFile(join(directory, 'child.js'), CHILD);
  });
  afterAll(() => rm(directory, { recursive: true }));

  function start(store: Store) {
    const child = fork(join(directory, 'child.js'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      execArgv: [],
    });
    return { child, ...serveStore(store, child.stdio[4] as Socket) };
  }

  async function untilTold(child: ChildProcess, count: number): Promise<{ key: string; revision: number }[]> {
    const told: { key: string; revision: number }[] = [];
    child.on('message', (message: { key: string; revision: number }) => told.push(message));
    await until(() => told.length >= count);
    return told;
  }

  it('may be killed at any time: nothing that it was told is lost, nothing of it stays', async () => {
    const store = await openLevel(join(directory, 'data'), { sync: false });
    let live = 0;
    const watch = store.watch.bind(store);
    store.watch = async (range, options) => {
      const stop = await watch(range, options);
      live++;
      return () => {
        live--;
        stop();
      };
    };
    const { child, closed, died } = start(store);
    const told = await untilTold(child, 500);
    expect(live).toBe(21);
    child.kill('SIGKILL');
    await Promise.all([closed, once(child, 'exit')]);
    expect(live).toBe(0);
    for (const { key, revision } of told) expect((await store.get(key))?.revision).toBe(revision);
    // A channel that ended is no word of the process.
    expect(await store.acquire('leader', 1000)).toBeUndefined();
    await died();
    expect(await store.acquire('leader', 1000)).toMatchObject({ name: 'leader' });
    await store.close();
  });

  it('shares a store with others, each of whom sees everything', async () => {
    const store = openMemory();
    const children = [start(store), start(store)];
    const { pipe } = await pipeTo(store);
    const seen = await record(pipe, ALL, 0);
    const first = await Promise.race(children.map(({ child }) => untilTold(child, 300)));
    for (const { child } of children) child.kill('SIGKILL');
    await Promise.all(children.map(({ closed }) => closed));
    await until(() => pipe.revision === store.revision && seen.events.length === store.revision);
    expect(seen.events.map((e) => e.entry.revision)).toEqual(seen.events.map((_, i) => i + 1));
    for (const { key, revision } of first) expect(seen.events[revision - 1]?.entry.key).toBe(key);
    await pipe.close();
  });
});

describe('two pipes to one store', () => {
  /** `direct`: whether clients may also ask it without a pipe. One in memory would give nobody else a turn. */
  interface Kind {
    store: Store;
    direct: boolean;
    dispose: () => Promise<void>;
  }
  const kinds: [string, () => Promise<Kind>][] = [
    ['memory', async () => ({ store: openMemory({ events: 3000 }), direct: false, dispose: async () => {} })],
    [
      'level',
      async () => {
        const directory = await mkdtemp(join(tmpdir(), 'pipe-level-'));
        const store = await openLevel(directory, { sync: false, historyEvents: 3000 });
        const dispose = async () => {
          await store.close();
          await rm(directory, { recursive: true });
        };
        return { store, direct: true, dispose };
      },
    ],
  ];

  it.each(kinds)('are linearizable, and so are their watches (%s)', async (_, open) => {
    const { store, direct, dispose } = await open();
    const lines: Line[] = [];
    const stop = new AbortController();
    const pipes = await Promise.all([pipeTo(store), pipeTo(store)]);
    const stores = [...pipes.map(({ pipe }) => pipe), ...(direct ? [store] : [])];
    // The clients stop watching before the last of them has written.
    lines.push(['watch', 'whole', WHOLE.start, WHOLE.end, 0]);
    await store.watch(WHOLE, {
      after: 0,
      sink: (events) => lines.push(...events.map((e): Line => ['event', 'whole', changeOf(e)])),
    });
    const running = stores.map((each, i) => {
      const load = { writers: 6, hotKeys: 4, coldKeys: 60, watchers: 4, valueBytes: 400, after: 0 };
      const record = (line: Line): number => lines.push(line);
      return new Clients(each, { ...load, seed: 40 + i, life: `p${i}` }, record, stop.signal).run();
    });
    await until(() => lines.length > 3000);
    stop.abort();
    await Promise.all(running);
    for (const { pipe } of pipes) await pipe.close();
    await dispose();
    const { ops, failures } = check(lines, { contiguous: true });
    expect(failures).toEqual([]);
    expect(ops).toBeGreaterThan(300);
  });
});
