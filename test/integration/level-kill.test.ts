import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLevel } from '../../storage/level/level.ts';
import type { StoreEvent } from '../../storage/store.ts';
import { compile } from './compile.ts';

const RUNS = 10;
const ALL = { start: '', end: '\x7f' };

/** Sixteen writers, each on a key of its own: create, then updates, now and then a delete. Prints what is acknowledged. */
const LOAD = `
import { writeSync } from 'node:fs';
import { openLevel } from './storage/level/level.js';
const store = await openLevel(process.argv[2], { historyEvents: 2000 });
const told = (op, entry) => writeSync(1, [op, entry.key, entry.revision].join(' ') + '\\n');
for (let w = 0; w < 16; w++) {
  void (async () => {
    const key = '/w/' + w;
    let there = await store.get(key);
    for (let i = 0; ; i++) {
      if (there === undefined) told('put', (there = await store.create(key, Buffer.from('v' + i))));
      else if (i % 7 === 6) {
        told('delete', await store.delete(key, there.revision));
        there = undefined;
      } else told('put', (there = await store.update(key, Buffer.alloc(200, 'v' + i), there.revision)));
    }
  })();
}
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'level-kill-'));
  await compile(['storage'], directory);
  await writeFile(join(directory, 'load.js'), LOAD);
});
afterAll(() => rm(directory, { recursive: true }));

interface Acknowledged {
  op: string;
  key: string;
  revision: number;
}

/** Runs the load until `enough` writes were acknowledged, kills it, and answers all that were. */
async function killUnderLoad(data: string, enough: number): Promise<Acknowledged[]> {
  const child = spawn(process.execPath, [join(directory, 'load.js'), data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: Acknowledged[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [op, key, revision] = line.split(' ');
    acknowledged.push({ op: op!, key: key!, revision: Number(revision) });
    if (acknowledged.length === enough) child.kill('SIGKILL');
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return acknowledged;
}

it('loses no acknowledged write to kill -9, and leaves no gap', async () => {
  const data = join(directory, 'data');
  for (let run = 0; run < RUNS; run++) {
    const acknowledged = await killUnderLoad(data, 50 + run * 150);
    const store = await openLevel(data);
    const events: StoreEvent[] = [];
    await store.watch(ALL, { after: store.compacted, sink: (batch) => events.push(...batch) });
    const first = store.compacted + 1;
    expect(events.map((e) => e.entry.revision)).toEqual(events.map((_, i) => first + i));
    expect(store.revision).toBe(store.compacted + events.length);
    const last = new Map(acknowledged.map((write) => [write.key, write]));
    for (const { op, key, revision } of acknowledged) {
      expect(revision).toBeLessThanOrEqual(store.revision);
      if (revision > store.compacted)
        expect(events[revision - first]).toMatchObject({ type: op, entry: { key } });
    }
    for (const { op, key, revision } of last.values()) {
      const newest = events.findLast((e) => e.entry.key === key)?.entry.revision ?? revision;
      const there = await store.get(key);
      // A write that was under way may have made it as well.
      if (newest === revision) expect(there?.revision).toBe(op === 'put' ? revision : undefined);
      else expect(newest).toBeGreaterThan(revision);
    }
    await store.close();
  }
});
