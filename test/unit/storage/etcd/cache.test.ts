import { describe, expect, it } from 'vitest';
import { Cache } from '../../../../storage/etcd/cache.ts';
import { Confirm } from '../../../../storage/etcd/confirm.ts';
import { Keys } from '../../../../storage/etcd/keys.ts';
import type { Method, WatchEvent } from '../../../../storage/etcd/wire.ts';
import { prefixRange, StoreError, type StoreEvent } from '../../../../storage/store.ts';

const keys = new Keys('/p');
const ALL = prefixRange('/');

function put(key: string, value: string, modRevision: number, createRevision = modRevision): WatchEvent {
  const kv = {
    key: keys.data(key),
    value: Buffer.from(value),
    modRevision,
    createRevision,
    version: 1,
  };
  return { type: 0, kv, prevKv: null };
}

function remove(key: string, modRevision: number): WatchEvent {
  return { ...put(key, '', modRevision, 0), type: 1 };
}

async function watched(cache: Cache, after: number) {
  const events: StoreEvent[] = [];
  const ends: StoreError[] = [];
  await cache.hub.watch(ALL, {
    after,
    sink: (batch) => events.push(...batch),
    onEnd: (reason) => ends.push(reason),
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { events, ends, revisions: () => events.map((e) => e.entry.revision) };
}

describe('Cache', () => {
  it('knows what an event replaced, and takes no event twice', async () => {
    const seed = { key: '/a', value: Buffer.from('0'), revision: 7, created: 7 };
    const cache = new Cache(keys, [seed], 10);
    const watch = await watched(cache, 10);
    cache.feed([put('/a', '1', 13, 7), remove('/a', 15)]);
    cache.feed([put('/a', '1', 13, 7), remove('/a', 15), put('/b', '2', 16)]);
    expect(watch.revisions()).toEqual([13, 15, 16]);
    expect(watch.events.map((e) => e.previous?.revision)).toEqual([7, 13, undefined]);
    expect(watch.events[1]?.entry).toMatchObject({ revision: 15, created: 7, value: Buffer.from('1') });
    expect(cache.versions.get('/a', 14)?.revision).toBe(13);
    expect(cache.versions.get('/a', 12)?.revision).toBe(7);
    expect(() => cache.versions.get('/a', 9)).toThrow(StoreError);
  });

  it('keeps all events of one revision together', async () => {
    const cache = new Cache(keys, [], 1);
    cache.feed([put('/a', '', 5), put('/b', '', 5), put('/c', '', 6)]);
    expect((await watched(cache, 4)).revisions()).toEqual([5, 5, 6]);
    expect((await watched(cache, 5)).revisions()).toEqual([6]);
    cache.versions.compact(5);
    expect((await watched(cache, 5)).revisions()).toEqual([6]);
  });

  it('lets readers wait for a revision, whether events or progress reach it', async () => {
    const cache = new Cache(keys, [], 1);
    const order: string[] = [];
    const wait = (revision: number) =>
      cache.reach(revision, 10_000).then((reached) => order.push(`${revision} ${reached}`));
    const all = [wait(9), wait(3), wait(5), wait(20)];
    cache.feed([put('/a', '', 4)]);
    await all[1];
    cache.advance(9);
    cache.advance(2);
    expect(cache.versions.revision).toBe(9);
    await all[0];
    cache.end();
    await Promise.all(all);
    expect(order).toEqual(['3 true', '5 true', '9 true', '20 false']);
    expect(await cache.reach(1, 1)).toBe(false);
    const late = new Cache(keys, [], 1);
    expect(await late.reach(2, 1)).toBe(false);
    expect(late.waiting).toBe(false);
  });

  it('ends its watches with the reason', async () => {
    const cache = new Cache(keys, [], 1);
    const watch = await watched(cache, 1);
    cache.end(new StoreError('compacted', 'x'));
    cache.end();
    expect(watch.ends.map((end) => end.code)).toEqual(['compacted']);
  });
});

describe('Confirm', () => {
  it('never answers with a question that was sent before', async () => {
    const asked: (() => void)[] = [];
    let revision = 0;
    const call = <Q, A>(_: Method<Q, A>): Promise<A> => {
      const header = { revision: ++revision };
      return new Promise((resolve) => asked.push(() => resolve({ header } as A)));
    };
    const confirm = new Confirm({ call }, keys);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const groups: Promise<number>[][] = [];
    for (let i = 0; i < 6; i++) {
      groups.push([confirm.revision(), confirm.revision()]);
      await turn();
    }
    // Four at a time; the fifth question waits and serves everybody who came meanwhile.
    expect(asked).toHaveLength(4);
    for (const answer of asked.splice(0)) answer();
    await turn();
    await turn();
    for (const answer of asked.splice(0)) answer();
    expect(await Promise.all(groups.flat())).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5]);
  });
});
