import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Cache } from '../../../storage/etcd/cache.ts';
import { Keys } from '../../../storage/etcd/keys.ts';
import { openLevel } from '../../../storage/level/level.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { DEFAULT_RETENTION } from '../../../storage/retention.ts';
import type { Store } from '../../../storage/store.ts';
import { bytes } from '../../contract/store.ts';
import { until } from '../../contract/until.ts';
import { eventually } from '../../eventually.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'store-aging-'));
  closers.push(() => rm(path, { recursive: true }));
  return path;
}

/** More than one step of forgetting takes. */
const writes = 4500;

async function written(store: Store): Promise<void> {
  closers.push(() => store.close());
  await Promise.all(Array.from({ length: writes }, (_, i) => store.create(`/a/${i}`, bytes('x'))));
  expect(store.compacted).toBeLessThan(store.revision);
}

describe('a store at rest forgets what is too old', () => {
  it('in memory', async () => {
    const store = openMemory({ ageMs: 200 });
    await written(store);
    await until(() => store.compacted === store.revision);
  });

  it('on disk', async () => {
    const store = await openLevel(await directory(), { sync: false, historyAgeMs: 200 });
    await written(store);
    await until(() => store.compacted === store.revision);
    expect((await store.check()).damaged).toBe(0);
  });

  it('on disk, what was written before it was opened', async () => {
    const path = await directory();
    const before = await openLevel(path, { sync: false });
    await written(before);
    await before.close();
    const store = await openLevel(path, { sync: false, historyAgeMs: 200 });
    closers.push(() => store.close());
    await until(() => store.compacted === writes);
  });

  it('as a cache of etcd, until it ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    closers.push(async () => vi.useRealTimers());
    const cache = new Cache(new Keys('/p'), [], 1);
    cache.advance(writes);
    await vi.advanceTimersByTimeAsync(DEFAULT_RETENTION.ageMs / 2);
    expect(cache.versions.compacted).toBe(1);
    await vi.advanceTimersByTimeAsync(DEFAULT_RETENTION.ageMs);
    await eventually(() => expect(cache.versions.compacted).toBe(writes));
    cache.advance(writes + 1);
    expect(vi.getTimerCount()).toBe(1);
    cache.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
