import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { Retention } from '../../../storage/retention.ts';
import { prefixRange } from '../../../storage/store.ts';
import { commonPrefix, WatchIndex } from '../../../storage/watch-index.ts';
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
  it('of 10,000 prefixes each gets its own events, 10,000 of one prefix every event', async () => {
    const store = openMemory();
    let delivered = 0;
    const sink = (events: readonly unknown[]) => {
      delivered += events.length;
    };
    for (let i = 0; i < 10_000; i++) await store.watch(prefixRange(`/p/lc${i}/`), { after: 0, sink });
    await new Promise(setImmediate);
    for (let i = 0; i < 10_000; i++) await store.create(`/p/lc${i}/x`, bytes(''));
    expect(delivered).toBe(10_000);
    for (let i = 0; i < 10_000; i++) await store.watch(prefixRange('/q/'), { after: store.revision, sink });
    await new Promise(setImmediate);
    for (let i = 0; i < 20; i++) await store.create(`/q/${i}`, bytes(''));
    await until(() => delivered === 210_000);
    await store.close();
  });
});

describe('a watcher that a commit comes too late to', () => {
  it('has missed nothing by what was compacted of others, which it had nothing of', async () => {
    const store = openMemory();
    let isSlow = false;
    const busy = () => {
      const until = performance.now() + (isSlow ? 10 : 0);
      while (performance.now() < until);
    };
    const got: number[] = [];
    const ends: string[] = [];
    await store.create('/p/0', bytes(''));
    for (let i = 0; i < 64; i++) await store.watch(prefixRange('/p/'), { after: 1, sink: busy });
    await store.watch(prefixRange('/p/'), {
      after: 1,
      sink: (events) => got.push(...events.map(({ entry }) => entry.revision)),
      onEnd: ({ code }) => ends.push(code),
    });
    await nextTurn();
    for (let i = 0; i < 10; i++) await store.create(`/q/${i}`, bytes(''));
    await store.compact(store.revision);
    isSlow = true;
    await store.create('/p/1', bytes(''));
    await until(() => got.length + ends.length > 0);
    expect([got, ends]).toEqual([[12], []]);
    await store.close();
  });
});

describe('a slow watcher', () => {
  /** A sink that is told to pause after each call until `resume`. */
  function slow() {
    const got: number[] = [];
    const synced: boolean[] = [];
    let resume = (): void => {};
    let paused: Promise<void> | undefined;
    return {
      got,
      synced,
      resume: () => resume(),
      options: {
        after: 0,
        sink: (events: readonly { entry: { revision: number } }[]) => {
          got.push(...events.map((event) => event.entry.revision));
          paused = new Promise((resolve) => {
            resume = () => {
              paused = undefined;
              resolve();
            };
          });
        },
        pause: () => paused,
        onSynced: (yes: boolean) => synced.push(yes),
      },
    };
  }

  it('is passed over while it pauses, then gets all it missed from history, once and in order', async () => {
    const store = openMemory();
    const watcher = slow();
    await store.watch(prefixRange('/s/'), watcher.options);
    await new Promise(setImmediate);
    for (let i = 0; i < 1000; i++) await store.create(`/s/${i}`, bytes(''));
    expect(watcher.got).toEqual([1]);
    for (let turn = 0; watcher.got.length < 1000; turn++) {
      expect(turn).toBeLessThan(1000);
      const before = watcher.got.length;
      watcher.resume();
      await until(() => watcher.got.length > before);
    }
    expect(watcher.got).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
    watcher.resume();
    await until(() => watcher.synced.at(-1) === true);
    await store.create('/s/last', bytes(''));
    expect(watcher.got.at(-1)).toBe(1001);
    await store.close();
  });

  it('ends with compacted when history went on without it, and can resume nowhere before that', async () => {
    const store = openMemory();
    const watcher = slow();
    const ends: string[] = [];
    await store.watch(prefixRange('/s/'), { ...watcher.options, onEnd: ({ code }) => ends.push(code) });
    await new Promise(setImmediate);
    for (let i = 0; i < 10; i++) await store.create(`/s/${i}`, bytes(''));
    await store.compact(5);
    watcher.resume();
    await until(() => ends.length > 0);
    expect([ends, watcher.got]).toEqual([['compacted'], [1]]);
    await store.close();
  });

  it('with a long history holds nobody else up', async () => {
    const store = openMemory({ events: 200_000 });
    const one = prefixRange('/s/');
    for (let i = 0; i < 50_000; i++) await store.create(`/s/${i}`, bytes(''));
    let clock = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    let turns = 0;
    let got = 0;
    const sink = (events: readonly unknown[]) => {
      got += events.length;
      // What an encoder costs.
      clock += events.length * 0.004;
    };
    let isOver = false;
    const beat = (async () => {
      for (; !isOver; turns++) await nextTurn();
    })();
    await Promise.all([store.watch(one, { after: 0, sink }), store.watch(one, { after: 0, sink })]);
    isOver = true;
    await beat;
    vi.restoreAllMocks();
    expect(got).toBe(100_000);
    // 400 ms of work, in turns of a few milliseconds each.
    expect(turns).toBeGreaterThan(40);
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
