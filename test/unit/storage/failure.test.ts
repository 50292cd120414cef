import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, openDisk } from '../../../storage/level/disk.ts';
import { openLevel, startLevel } from '../../../storage/level/level.ts';
import type { Store } from '../../../storage/store.ts';
import { bytes, fails, record } from '../../contract/store.ts';
import { until } from '../../contract/until.ts';

const ALL = { start: '', end: '\x7f' };
let directory: string;
let disk: Disk;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'store-failure-'));
  disk = await openDisk(directory, false);
  store = await startLevel(disk);
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

/** Makes the next commit fail, after its bytes went to the disk or before. */
function failNextCommit(message: string, written: boolean): void {
  const commit = disk.commit.bind(disk);
  disk.commit = async (events) => {
    disk.commit = commit;
    if (written) await commit(events);
    throw new Error(message);
  };
}

/** Tries until the store accepts writes again. */
async function createWhenPossible(key: string) {
  let made: Awaited<ReturnType<Store['create']>> | undefined;
  await until(() => {
    store.create(key, bytes('')).then(
      (entry) => {
        made = entry;
      },
      () => {},
    );
    return made !== undefined;
  });
  return made;
}

it('a failed write fails all that wait behind it, and the store recovers by itself', async () => {
  await store.create('/a', bytes('1'));
  failNextCommit('IO error: No space left on device', false);
  await Promise.all([
    fails(store.create('/b', bytes('')), 'full'),
    fails(store.update('/a', bytes('2'), 1), 'full'),
  ]);
  await fails(store.create('/c', bytes('')), 'full');
  expect(store.revision).toBe(1);
  expect((await store.get('/a'))?.revision).toBe(1);
  expect((await createWhenPossible('/d'))?.revision).toBe(2);
});

it('a write that failed but reached the disk becomes visible and watched, once', async () => {
  const watch = await record(store, ALL, 0);
  await store.create('/a', bytes('1'));
  failNextCommit('IO error: fdatasync', true);
  await fails(store.update('/a', bytes('2'), 1), 'unavailable');
  await until(() => store.revision === 2);
  expect((await createWhenPossible('/b'))?.revision).toBe(3);
  await until(() => watch.events.length === 3);
  expect(watch.seen()).toEqual(['1 /a ->1', '2 /a 1>2', '3 /b ->']);
  await store.close();
  store = await openLevel(directory);
  expect(store.revision).toBe(3);
});

it('stays shut when the check after a failure finds acknowledged writes missing', async () => {
  await store.create('/a', bytes('1'));
  await disk.database.del('r0000000000000001');
  failNextCommit('IO error: fdatasync', false);
  await fails(store.create('/b', bytes('')), 'unavailable');
  let code = '';
  await until(() => {
    store.create('/c', bytes('')).catch((error) => {
      code = error.code;
    });
    return code === 'corrupt';
  });
  expect((await store.get('/a'))?.revision).toBe(1);
});

it('closes while it waits to recover', async () => {
  disk.reopen = async () => {
    throw new Error('IO error: still broken');
  };
  failNextCommit('IO error: broken', false);
  await fails(store.create('/a', bytes('')), 'unavailable');
  await store.close();
  await fails(store.create('/b', bytes('')), 'closed');
});

it('forgets history by itself, in pieces, and keeps what is current', async () => {
  await store.close();
  store = await openLevel(directory, { sync: false, historyEvents: 500 });
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => store.create(`/k/${round}/${i}`, bytes('v'))));
  }
  await until(() => store.compacted > 1000);
  expect(store.revision - store.compacted).toBeGreaterThanOrEqual(500);
  const { compacted } = store;
  await store.close();
  store = await openLevel(directory);
  expect(store.compacted).toBeGreaterThanOrEqual(compacted);
  expect((await store.list(ALL)).entries).toHaveLength(2000);
});

it('refuses creates and updates while the disk has too little left, but deletes', async () => {
  await store.create('/a', bytes(''));
  await store.close();
  store = await openLevel(directory, { sync: false, reserveBytes: Number.MAX_SAFE_INTEGER });
  let code = '';
  await until(() => {
    store.update('/a', bytes('2'), store.revision).catch((error) => {
      code = error.code;
    });
    return code === 'full';
  });
  expect((await store.delete('/a', store.revision)).key).toBe('/a');
});

describe('on a disk that fills up', () => {
  const RESERVE = 100 << 20;
  let free: number;
  let lines: string[];
  const full = () =>
    openLevel(directory, {
      sync: false,
      reserveBytes: RESERVE,
      freeBytes: async () => free,
      logger: { info: (text) => lines.push(`info ${text}`), warn: (text) => lines.push(`warn ${text}`) },
    });

  beforeEach(async () => {
    await store.create('/a', bytes('1'));
    await store.close();
    [free, lines] = [RESERVE, []];
  });

  it('opens, reads and deletes, and says at once that it refuses the rest', async () => {
    free = 99 << 20;
    store = await full();
    expect(store.refusing).toBe('less than 100 MiB are free on the disk');
    expect(lines).toEqual([
      `warn creates and updates are refused, reads and deletes go on: 99 MiB are free on the disk of ${directory}, 100 MiB are its reserve`,
    ]);
    await expect(store.create('/b', bytes(''))).rejects.toMatchObject({ code: 'full' });
    await expect(store.update('/a', bytes(''), 1)).rejects.toMatchObject({ code: 'full' });
    expect((await store.get('/a'))?.revision).toBe(1);
    expect((await store.delete('/a', 1)).key).toBe('/a');
  });

  it('says once that it begins and once that it is over, also when nobody writes', async () => {
    store = await full();
    expect({ refusing: store.refusing, lines }).toEqual({ refusing: undefined, lines: [] });
    free = 0;
    await until(() => {
      store.update('/a', bytes('2'), 1).catch(() => {});
      return store.refusing !== undefined;
    });
    free = RESERVE;
    await until(() => store.refusing === undefined);
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'warn creates and updates are refused, reads and deletes go on',
      'info creates and updates are accepted again',
    ]);
    expect((await store.create('/b', bytes(''))).key).toBe('/b');
  });
});
