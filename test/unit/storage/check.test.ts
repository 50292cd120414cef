import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Disk, openDisk } from '../../../storage/level/disk.ts';
import { openLevel, startLevel } from '../../../storage/level/level.ts';
import { encodeEntry, recordKey } from '../../../storage/level/record.ts';
import { startSelfCheck } from '../../../storage/self-check.ts';
import { prefixRange, type Store } from '../../../storage/store.ts';
import { bytes, record, text } from '../../contract/store.ts';
import { until } from '../../contract/until.ts';

let directory: string;
let disk: Disk;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'store-check-'));
  disk = await openDisk(directory, false);
  store = await startLevel(disk);
  for (let i = 0; i < 100; i++) await store.create(`/core/pods/lc/ns/${i}`, bytes(`value ${i}`));
  for (let i = 0; i < 100; i++) await store.create(`/apps/deployments/lc/ns/${i}`, bytes(`value ${i}`));
  for (let i = 0; i < 50; i++) await store.update(`/core/pods/lc/ns/${i}`, bytes(`newer ${i}`), i + 1);
  for (let i = 50; i < 60; i++) await store.delete(`/core/pods/lc/ns/${i}`, i + 1);
  await store.compact(220);
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

const mismatches = async () => {
  const { kinds } = await store.check();
  return Object.fromEntries(kinds.map(({ kind, mismatches }) => [kind, mismatches]));
};

/** The store's own bytes, as a fault in memory would change them. */
async function corrupt(key: string): Promise<void> {
  const entry = await store.get(key);
  entry?.value.set(bytes('XX'), 0);
  expect(text(await store.get(key))?.startsWith('XX')).toBe(true);
}

it('finds nothing wrong where nothing is, also while others write', async () => {
  expect(await mismatches()).toEqual({ '/core/pods/': 0, '/apps/deployments/': 0 });
  let writing = true;
  const writes = (async () => {
    for (let i = 0; writing; i++) {
      const made = await store.create(`/core/pods/lc/new/${i}`, bytes('1'));
      const changed = await store.update(made.key, bytes('2'), made.revision);
      if (i % 2) await store.delete(made.key, changed.revision);
      if (i % 50 === 49) await store.compact(store.revision - 20);
    }
  })();
  for (let i = 0; i < 10; i++) expect(Object.values(await mismatches())).toEqual([0, 0]);
  writing = false;
  await writes;
});

it('repairs values that changed in memory, and ends the watches that may have seen them', async () => {
  const pods = await record(store, prefixRange('/core/pods/'), store.revision);
  const deployments = await record(store, prefixRange('/apps/deployments/'), store.revision);
  await corrupt('/core/pods/lc/ns/3');
  await corrupt('/core/pods/lc/ns/77');
  expect(await mismatches()).toEqual({ '/core/pods/': 2, '/apps/deployments/': 0 });
  expect(text(await store.get('/core/pods/lc/ns/3'))).toBe('newer 3');
  expect(text(await store.get('/core/pods/lc/ns/77'))).toBe('value 77');
  expect([pods.ends.map((e) => e.code), deployments.ends]).toEqual([['compacted'], []]);
  expect(Object.values(await mismatches())).toEqual([0, 0]);
});

it('repairs history with them', async () => {
  await corrupt('/core/pods/lc/ns/45');
  await store.check();
  const again = await record(store, prefixRange('/core/pods/lc/ns/45'), 220);
  expect(again.seen()).toEqual(['246 /core/pods/lc/ns/45 value 45>newer 45']);
});

it('notices entries that only one side has', async () => {
  // Memory knows nothing of the first, and of the second what is not stored any more.
  const at = store.revision;
  const ghost = { key: '/core/pods/lc/ns/ghost', value: bytes('1'), revision: 150, created: 150 };
  await disk.database.put(recordKey(150), encodeEntry(ghost));
  expect(await mismatches()).toEqual({ '/core/pods/': 1, '/apps/deployments/': 1 });
  expect(text(await store.get(ghost.key))).toBe('1');
  expect(await store.get('/apps/deployments/lc/ns/49')).toBeUndefined();
  expect(store.revision).toBe(at);
});

it('counts records that are damaged on disk, and leaves memory alone', async () => {
  await disk.database.put(recordKey(100), Buffer.from('nonsense'));
  const report = await store.check();
  expect(report.damaged).toBe(1);
  expect(text(await store.get('/core/pods/lc/ns/99'))).toBe('value 99');
});

it('checks by itself, counts and logs', async () => {
  await store.close();
  store = await openLevel(directory, { sync: false });
  await corrupt('/core/pods/lc/ns/3');
  const stop = new AbortController();
  const logged: object[] = [];
  const logger = { info: () => {}, warn: (fields: object) => logged.push(fields) };
  const counts = startSelfCheck(store, { signal: stop.signal, intervalMs: 5, logger });
  await until(() => counts.checks > 2);
  stop.abort();
  expect(counts.mismatches).toBe(1);
  expect(logged).toMatchObject([{ kind: '/core/pods/', mismatches: 1 }]);
});
