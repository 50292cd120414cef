import { describe, expect, it } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { Retention } from '../../../storage/retention.ts';
import { prefixRange } from '../../../storage/store.ts';
import { commonPrefix, WatchIndex } from '../../../storage/watchindex.ts';
import { bytes } from '../../contract/store.ts';
import { until } from '../../contract/until.ts';

describe('watch index', () => {
  it.each([
    [prefixRange('/a/b/'), '/a/b/'],
    [prefixRange('/a/b'), '/a/b'],
    [{ start: '/a/b', end: '/a/b\0' }, '/a/b'],
    [{ start: '/a/b/c', end: '/a/b0' }, '/a/b/'],
    [{ start: '/a/1', end: '/b' }, '/a'],
    [{ start: '/a', end: '/c' }, '/'],
    [{ start: '', end: '\x7f' }, ''],
  ])('files %j under %s', (range, prefix) => {
    expect(commonPrefix(range)).toBe(prefix);
  });

  it('asks only the groups that can match, and forgets who left', () => {
    const index = new WatchIndex<number>();
    for (let i = 0; i < 10_000; i++) index.add(prefixRange(`/core/pods/lc${i}/`), i);
    for (let i = 0; i < 100; i++) index.add(prefixRange('/core/pods/'), i);
    const found: number[] = [];
    index.match('/core/pods/lc77/ns/x', (group) => found.push(group.watchers.size));
    expect(found.sort((a, b) => a - b)).toEqual([1, 100]);
    index.remove(prefixRange('/core/pods/lc77/'), 77);
    for (let i = 0; i < 100; i++) index.remove(prefixRange('/core/pods/'), i);
    index.match('/core/pods/lc77/ns/x', () => expect.unreachable());
  });
});

describe('many watchers', () => {
  it('of different prefixes cost a write little; of one prefix each gets every event', async () => {
    const store = openMemory();
    let delivered = 0;
    const sink = (events: readonly unknown[]) => {
      delivered += events.length;
    };
    for (let i = 0; i < 10_000; i++) await store.watch(prefixRange(`/p/lc${i}/`), { after: 0, sink });
    await new Promise(setImmediate);
    const started = performance.now();
    for (let i = 0; i < 10_000; i++) await store.create(`/p/lc${i}/x`, bytes(''));
    // Asking all 10,000 watchers for each of 10,000 events would take far longer.
    expect(performance.now() - started).toBeLessThan(2000);
    expect(delivered).toBe(10_000);
    for (let i = 0; i < 10_000; i++) await store.watch(prefixRange('/q/'), { after: store.revision, sink });
    await new Promise(setImmediate);
    for (let i = 0; i < 20; i++) await store.create(`/q/${i}`, bytes(''));
    await until(() => delivered === 210_000);
    await store.close();
  });
});

describe('retention', () => {
  const size = (revision: number, compacted: number, historyBytes = 0) => ({
    revision,
    compacted,
    historyBytes,
  });
  it('keeps by number, by bytes and by age, and forgets in pieces', () => {
    const retention = new Retention({ events: 100, bytes: 1000, ageMs: 60_000 });
    expect(retention.due(0, size(10, 0))).toBeUndefined();
    expect(retention.due(0, size(150, 0))).toBe(50);
    expect(retention.due(0, size(50_000, 0))).toBe(2000);
    expect(retention.due(0, size(90, 0, 1001))).toBe(90);
    expect(retention.due(30_000, size(95, 5))).toBeUndefined();
    expect(retention.due(60_001, size(96, 5))).toBe(10);
    expect(retention.due(90_001, size(99, 10))).toBe(95);
  });
});
