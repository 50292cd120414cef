import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange, type Range, type Store, type StoreError } from '../../../../storage/store.ts';
import { bytes, record } from '../../../contract/store.ts';
import { until } from '../../../contract/until.ts';
import { Random } from '../../../fault/random.ts';
import { piped } from './piped.ts';

const ALL = { start: '', end: '\x7f' };

/** Something that a sink waits for, until it is opened. */
function gate() {
  let pending: { promise: Promise<void>; open: () => void } | undefined;
  return {
    pause: () => pending?.promise,
    close: () => {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      pending = {
        promise,
        open: () => {
          pending = undefined;
          resolve();
        },
      };
    },
    open: () => pending?.open(),
  };
}

/** A watcher that pauses now and then, and checks what it is told and when. */
async function pauser(pipe: Store, range: Range, random: Random) {
  const seen: number[] = [];
  const problems: string[] = [];
  const ends: StoreError[] = [];
  const door = gate();
  let synced = false;
  let paused = 0;
  const stop = await pipe.watch(range, {
    after: 0,
    sink: (events) => {
      if (door.pause() !== undefined) problems.push('events in a pause');
      for (const { entry } of events) {
        if (entry.revision <= (seen.at(-1) ?? 0)) problems.push(`${entry.revision} after ${seen.at(-1)}`);
        seen.push(entry.revision);
      }
      if (pipe.revision < (seen.at(-1) ?? 0))
        problems.push(`the store is at ${pipe.revision}, not yet ${seen.at(-1)}`);
      if (!random.chance(0.05)) return;
      door.close();
      paused++;
      const turns = random.between(0, 30);
      void (async () => {
        for (let i = 0; i < turns; i++) await nextTurn();
        door.open();
      })();
    },
    pause: door.pause,
    onEnd: (reason) => ends.push(reason),
    onSynced: (yes) => {
      if (yes === synced) problems.push(`synced ${yes} twice`);
      synced = yes;
    },
  });
  return { seen, ends, problems, stop, range, isSynced: () => synced, paused: () => paused };
}

describe('watches through a pipe', () => {
  it.each([1, 2, 3, 4])('have no gap and no duplicate, however they pause (seed %i)', async (seed) => {
    const random = new Random(seed, 7);
    const { pipe, store } = await piped();
    const ranges = [ALL, prefixRange('/a/'), prefixRange('/b/'), { start: '/a/1', end: '/a/1\0' }];
    const expected = ranges.map((): number[] => []);
    const watchers: Awaited<ReturnType<typeof pauser>>[] = [];
    for (let i = 0; i < 3000; i++) {
      if (i % 150 === 0) watchers.push(await pauser(pipe, ranges[watchers.length % 4]!, random));
      const key = `/${random.pick(['a', 'b'])}/${random.below(5)}`;
      const there = await store.get(key);
      const through = random.chance(0.5) ? pipe : store;
      const { revision } =
        there === undefined
          ? await through.create(key, bytes(`${i}`))
          : random.chance(0.3)
            ? await through.delete(key, there.revision)
            : await through.update(key, bytes(`${i}`), there.revision);
      for (const [r, { start, end }] of ranges.entries()) {
        if (key >= start && key < end) expected[r]!.push(revision);
      }
      // Whoever is synced has all that anybody can know of.
      for (const watcher of watchers) {
        const { start, end } = watcher.range;
        if (!watcher.isSynced() || pipe.revision < revision || key < start || key >= end) continue;
        expect(watcher.seen.at(-1)).toBe(revision);
      }
    }
    for (const [i, watcher] of watchers.entries()) {
      await until(() => watcher.seen.length >= expected[i % 4]!.length && watcher.isSynced());
      expect(watcher.problems).toEqual([]);
      expect(watcher.ends).toEqual([]);
      expect(watcher.seen).toEqual(expected[i % 4]);
    }
    expect(watchers.reduce((sum, { paused }) => sum + paused(), 0)).toBeGreaterThan(100);
  });

  it('stop at the other side while they pause, and end when what they need was forgotten', async () => {
    const { pipe, store, far } = await piped();
    const told: number[] = [];
    const ends: StoreError[] = [];
    const synced: boolean[] = [];
    const door = gate();
    await pipe.watch(prefixRange('/a/'), {
      after: 0,
      sink: (events) => {
        told.push(...events.map(({ entry }) => entry.revision));
        door.close();
      },
      pause: door.pause,
      onEnd: (reason) => ends.push(reason),
      onSynced: (yes) => synced.push(yes),
    });
    await until(() => synced.length === 1);
    await store.create('/a/1', bytes(''));
    await until(() => told.length === 1);
    await until(() => synced.length === 2);
    expect(synced).toEqual([true, false]);
    // The other side has heard of it.
    await pipe.get('/a/1');
    let bytesTold = 0;
    const write = far.write.bind(far) as (chunk: Uint8Array, done: () => void) => boolean;
    far.write = ((chunk: Uint8Array, done: () => void) => {
      bytesTold += chunk.length;
      return write(chunk, done);
    }) as typeof far.write;
    for (let i = 0; i < 20; i++) await store.create(`/a/n${i}`, Buffer.alloc(10_000));
    await until(() => pipe.revision === 21);
    expect(bytesTold).toBeLessThan(2000);
    await store.compact(10);
    door.open();
    await until(() => ends.length === 1);
    expect(ends[0]?.code).toBe('compacted');
    expect(told).toEqual([1]);
  });

  it('of a quiet range outlive a pause in which everything before it was forgotten', async () => {
    const { pipe, store } = await piped();
    const door = gate();
    const watch = await record(pipe, ALL, 0);
    const told: number[] = [];
    await pipe.watch(prefixRange('/quiet/'), {
      after: 0,
      sink: (events) => told.push(...events.map(({ entry }) => entry.revision)),
      pause: door.pause,
    });
    for (let i = 0; i < 100; i++) await store.create(`/busy/${i}`, bytes(''));
    await until(() => watch.events.length === 100);
    door.close();
    await store.create('/quiet/1', bytes(''));
    await until(() => pipe.revision === 101);
    await store.compact(100);
    door.open();
    await until(() => told.length === 1);
    expect(told).toEqual([101]);
  });

  it('are no burden to a store whose other process does not read, and go on afterwards', async () => {
    const { pipe, store, near, far } = await piped(openMemory({ events: 100_000, bytes: 1 << 30 }));
    const seen: number[] = [];
    for (let i = 0; i < 5; i++) {
      await pipe.watch(ALL, {
        after: 0,
        sink: (events) => seen.push(...events.map((e) => e.entry.revision)),
      });
    }
    near.pause();
    for (let i = 0; i < 400; i++) {
      await store.create(`/k/${i}`, Buffer.alloc(50_000));
      if (i % 10 === 0) await sleep(1);
    }
    expect(far.writableLength).toBeGreaterThan(1 << 20);
    expect(far.writableLength).toBeLessThan(8 << 20);
    near.resume();
    await until(() => seen.length === 2000);
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, i) => Math.floor(i / 5) + 1));
    await until(() => pipe.revision === 400);
  });

  it('of slow sinks do not hold up everything else, and lag meanwhile', async () => {
    const { pipe, store } = await piped();
    const counts = Array.from({ length: 200 }, () => 0);
    const lagged = new Set<number>();
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    for (const i of counts.keys()) {
      await pipe.watch(ALL, {
        after: 0,
        sink: (events) => {
          counts[i]! += events.length;
          now += 0.2;
        },
        onSynced: (yes) => {
          if (!yes) lagged.add(i);
        },
      });
    }
    let turns = 0;
    let stop = false;
    const clock = (async () => {
      for (; !stop; turns++) await nextTurn();
    })();
    for (let i = 0; i < 5; i++) await store.create(`/k/${i}`, bytes(''));
    await until(() => counts.every((count) => count === 5));
    stop = true;
    await clock;
    vi.restoreAllMocks();
    // All of them take 40 ms an event, and the clock is looked at after 64 of them.
    expect(lagged.size).toBeGreaterThan(0);
    expect(turns).toBeGreaterThan(10);
  });

  it('hand over what was answered before the store is closed', async () => {
    const { pipe } = await piped();
    const watch = await record(pipe, ALL, 0);
    const accepted = Promise.all(Array.from({ length: 2000 }, (_, i) => pipe.create(`/${i}`, bytes(''))));
    await pipe.close();
    expect(await accepted).toHaveLength(2000);
    expect(watch.events).toHaveLength(2000);
    expect(watch.ends.map(({ code }) => code)).toEqual(['closed']);
  });
});
