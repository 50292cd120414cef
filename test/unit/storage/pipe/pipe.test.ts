import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { openPipe } from '../../../../storage/pipe/pipe.ts';
import { serveStore } from '../../../../storage/pipe/serve.ts';
import { type Entry, prefixRange, StoreError, type StoreEvent } from '../../../../storage/store.ts';
import { channelPair } from '../../../contract/pipes.ts';
import { bytes, fails, record, text } from '../../../contract/store.ts';
import { until } from '../../../contract/until.ts';
import { passing, piped } from './piped.ts';

const ALL = { start: '', end: '\x7f' };

/** How many writes a socket is asked for, and of how many bytes. */
function countWrites(socket: Socket): { writes: number; bytes: number } {
  const count = { writes: 0, bytes: 0 };
  const write = socket.write.bind(socket) as (chunk: Uint8Array, done: () => void) => boolean;
  socket.write = ((chunk: Uint8Array, done: () => void) => {
    count.writes++;
    count.bytes += chunk.length;
    return write(chunk, done);
  }) as typeof socket.write;
  return count;
}

describe('a pipe to a store', () => {
  it('says by how much a write grows, and why there was no room for it', async () => {
    const memory = openMemory();
    const asked: unknown[] = [];
    const bounded = Object.assign(memory, {
      create: async (key: string, _: Uint8Array, options: unknown) => {
        asked.push([key, options]);
        throw new StoreError('limited', 'no room');
      },
    });
    const { pipe } = await piped(bounded);
    const holding = { name: 'lease', token: 7 };
    for (const options of [undefined, { adds: 5 }, { holding }, { holding, adds: -2.5 }])
      await expect(pipe.create('/a', bytes('x'), options)).rejects.toMatchObject({
        code: 'limited',
        message: 'no room',
      });
    expect(asked).toEqual([
      ['/a', undefined],
      ['/a', { adds: 5 }],
      ['/a', { holding }],
      ['/a', { holding, adds: -2.5 }],
    ]);
  });

  it('sends what is due in one turn as one write, on both sides', async () => {
    const { pipe, near, far } = await piped();
    const asked = countWrites(near);
    const told = countWrites(far);
    await Promise.all(Array.from({ length: 40 }, (_, i) => pipe.create(`/a/${i}`, Buffer.alloc(1000))));
    expect(asked.writes).toBe(1);
    expect(asked.bytes).toBeGreaterThan(40_000);
    // A chunk of what came is answered in one turn, and there may be more than one chunk.
    expect(told.writes).toBeLessThanOrEqual(3);
    expect(told.bytes).toBeLessThan(4000);
  });

  it('tells an event once in a turn, whoever watches, and all of them get the same object', async () => {
    const { pipe, store, far } = await piped();
    const seen: StoreEvent[] = [];
    for (let i = 0; i < 1000; i++) {
      await pipe.watch(prefixRange('/a/'), { after: 0, sink: (batch) => seen.push(...batch) });
    }
    const other = await record(pipe, ALL, 0);
    // Who was too late for an event gets it in another turn.
    let fewest = Infinity;
    for (let i = 0; i < 10; i++) {
      seen.length = 0;
      const told = countWrites(far);
      await store.create(`/a/${i}`, Buffer.alloc(10_000));
      await until(() => seen.length === 1000 && other.events.length === i + 1);
      const objects = new Set([...seen, other.events[i]]).size;
      expect(objects).toBeLessThanOrEqual(told.writes);
      expect(told.bytes).toBeLessThan(told.writes * 10_200 + 40 * 1000);
      fewest = Math.min(fewest, objects);
    }
    expect(fewest).toBe(1);
  });

  it('knows the revision also when only others write, and what was compacted', async () => {
    const { pipe, store } = await piped();
    for (let i = 0; i < 5; i++) await store.create(`/a/${i}`, bytes(''));
    await until(() => pipe.revision === 5);
    await store.compact(3);
    await until(() => pipe.compacted === 3);
    const other = await piped(store);
    expect([other.pipe.revision, other.pipe.compacted]).toEqual([5, 3]);
  });

  it('takes keys that nobody could have written for what they are', async () => {
    const { pipe, store } = await piped();
    await store.create('/ns/B', bytes('1'));
    // Of which the low byte is a B.
    expect(await pipe.get('/ns/\u0142')).toBeUndefined();
    expect((await pipe.list({ start: '/ns/\u0142', end: '/ns/\u0143' })).entries).toEqual([]);
    expect(text(await pipe.get('/ns/B'))).toBe('1');
  });

  it('sends a long list in parts, and answers others meanwhile', async () => {
    const { pipe, store, far } = await piped();
    await Promise.all(
      Array.from({ length: 5000 }, (_, i) =>
        store.create(`/l/${String(i).padStart(5, '0')}`, Buffer.alloc(1024, i)),
      ),
    );
    const told = countWrites(far);
    const order: string[] = [];
    const listing = pipe.list(prefixRange('/l/')).then((result) => {
      order.push('list');
      return result;
    });
    await nextTurn();
    await store.create('/x', bytes('1'));
    await pipe.get('/x').then(() => order.push('get'));
    const result = await listing;
    expect(order).toEqual(['get', 'list']);
    expect(told.writes).toBeGreaterThan(15);
    expect(result).toMatchObject({ more: false, remaining: 0 });
    const there = await store.list(prefixRange('/l/'), { revision: result.revision });
    expect(result.entries.length).toBe(there.entries.length);
    const isSame = ({ key, value, revision, created }: Entry, other: Entry | undefined): boolean =>
      other !== undefined &&
      Buffer.compare(value, other.value) === 0 &&
      [key, revision, created].join() === [other.key, other.revision, other.created].join();
    expect(result.entries.filter((entry, i) => !isSame(entry, there.entries[i]))).toEqual([]);
    expect(await pipe.list(prefixRange('/l/'), { limit: 4000, after: '/l/00099' })).toMatchObject({
      more: true,
      remaining: 900,
    });
  });

  it('gives up a long list when nobody waits for it any more', async () => {
    const { pipe, store, near, closed } = await piped();
    await Promise.all(Array.from({ length: 3000 }, (_, i) => store.create(`/l/${i}`, Buffer.alloc(1024))));
    let size = 0;
    const list = store.list.bind(store);
    let looks = 0;
    store.list = async (range) => {
      const result = await list(range);
      size = result.entries.length;
      // Somebody looks at it for as long as the list goes on.
      const entries = new Proxy(result.entries, {
        get: (target, name, receiver) => {
          looks++;
          return Reflect.get(target, name, receiver);
        },
      });
      return { ...result, entries };
    };
    near.pause();
    const listing = pipe.list(prefixRange('/l/'));
    await until(() => size === 3000 && looks > 500);
    near.destroy();
    await fails(listing, 'unavailable');
    await closed;
    await nextTurn();
    await nextTurn();
    const before = looks;
    for (let i = 0; i < 10; i++) await nextTurn();
    expect(looks).toBe(before);
  });

  it('lets go of watches at the other side when it ends, and settles everything here', async () => {
    const { pipe, store, near, closed } = await piped();
    let asked = 0;
    const watch = store.watch.bind(store);
    const stops: boolean[] = [];
    store.watch = async (range, options) => {
      const number = asked++;
      const stop = await watch(range, options);
      return () => {
        stops[number] = true;
        stop();
      };
    };
    const ends: StoreError[] = [];
    for (let i = 0; i < 10; i++) {
      const pause = i === 0 ? () => new Promise<void>(() => {}) : undefined;
      void pipe
        .watch(ALL, { after: 0, sink: () => {}, onEnd: (e) => ends.push(e), ...(pause && { pause }) })
        .catch((e: StoreError) => ends.push(e));
    }
    await until(() => asked === 9);
    await pipe.create('/a', bytes('1'));
    const under = Array.from({ length: 50 }, (_, i) => pipe.create(`/w/${i}`, bytes('')));
    under.push(pipe.update('/a', bytes('2'), 1));
    near.destroy();
    const results = await Promise.allSettled([...under, pipe.get('/a'), pipe.list(ALL)]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    }
    await closed;
    expect(ends.map(({ code }) => code)).toEqual(Array(10).fill('unavailable'));
    expect(stops).toEqual(Array(9).fill(true));
    await fails(pipe.get('/a'), 'unavailable');
    await fails(pipe.watch(ALL, { after: 0, sink: () => {} }), 'unavailable');
    expect(pipe.recent?.(ALL)).toBeUndefined();
    await pipe.close();
    await fails(pipe.get('/a'), 'closed');
    expect(text(await store.get('/a'))).toBe('1');
  });

  it('says so when the store is closed', async () => {
    const { pipe, store } = await piped();
    const watch = await record(pipe, ALL, 0);
    await store.create('/a', bytes(''));
    await store.close();
    await until(() => watch.ends.length === 1);
    expect(watch.ends[0]).toMatchObject({ code: 'closed', message: 'the store was closed' });
    expect(watch.seen()).toEqual(['1 /a ->']);
    await fails(pipe.get('/a'), 'closed');
  });

  it('fails to open when nobody is there', async () => {
    const [near, far] = await channelPair();
    const opening = openPipe(near);
    far.destroy();
    await fails(opening, 'unavailable');
    await fails(openPipe(near), 'unavailable');
  });

  it.each([
    ['a question that does not exist', [0, 0, 0, 5, 99, 0, 0, 0, 1]],
    ['a question that is too short', [0, 0, 0, 6, 1, 0, 0, 0, 1, 0]],
    ['garbage', [255, 255, 255, 255, 255, 255]],
  ])('ends the channel over %s', async (_, garbage) => {
    const store = openMemory();
    const [near, far] = await channelPair();
    passing(near, far);
    const { closed } = serveStore(store, far);
    const failed = once(far, 'error');
    near.on('error', () => {});
    near.resume();
    near.write(Buffer.from(garbage));
    await closed;
    expect(String(await failed)).toMatch(/the pipe to the store brought /);
    expect((await store.list(ALL)).entries).toEqual([]);
  });

  it('ends over an answer that makes no sense, and says why', async () => {
    const { pipe, far } = await piped();
    const asking = pipe.get('/a');
    far.write(Buffer.from([0, 0, 0, 5, 36, 0, 0, 9, 9]));
    const error = await fails(asking, 'unavailable');
    expect(error.message).toMatch(/answer 36 to question 2313, which is not asked/);
  });
});
