import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEtcd } from '../../storage/etcd/open.ts';
import type { EtcdLogger } from '../../storage/etcd/options.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { bytes, record, text } from '../contract/store.ts';
import { until } from '../contract/until.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

let etcd: Etcd;
let proxy: FaultyProxy;
const stores: Store[] = [];

async function open(endpoint: string, logger?: EtcdLogger): Promise<Store> {
  const store = await openEtcd({ endpoints: [endpoint], compaction: false, ...(logger && { logger }) });
  stores.push(store);
  return store;
}

beforeAll(async () => {
  etcd = await startEtcd();
  proxy = await startProxy(etcd.port);
});
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())));
afterAll(async () => {
  await proxy.stop();
  await etcd.stop();
});

describe('an etcd that was set back', () => {
  it('ends watches, and is shown as it is', async () => {
    const lost = await startEtcd();
    const told: string[] = [];
    const store = await open(lost.endpoint, {
      info: () => {},
      warn: (_, message) => void told.push(message),
    });
    await store.create('/a', bytes('0'));
    await store.create('/b', bytes('0'));
    const watch = await record(store, prefixRange('/'), store.revision);
    await lost.kill();
    await lost.wipe();
    await lost.start();
    const reads = Array.from({ length: 20 }, async () => store.get('/a'));
    expect(new Set(await Promise.all(reads))).toEqual(new Set([undefined]));
    await store.get('/b');
    expect(told).toEqual(['etcd cache starts over']);
    expect(watch.ends.map((end) => end.code)).toEqual(['compacted']);
    const made = await store.create('/c', bytes('1'));
    expect((await store.list(prefixRange('/'))).entries).toEqual([made]);
    const again = await record(store, prefixRange('/'), made.revision - 1);
    expect(again.events).toHaveLength(1);
    await lost.stop();
  });
});

describe('an etcd that was set back and has come further since', () => {
  it('is shown as it is by a server that was away meanwhile', async () => {
    const lost = await startEtcd();
    const gap = await startProxy(lost.port);
    const away = await open(gap.endpoint);
    for (let i = 0; i < 5; i++) await away.create(`/of-before-${i}`, bytes('0'));
    const watch = await record(away, prefixRange('/'), away.revision);
    gap.hole();
    await lost.kill();
    await lost.wipe();
    await lost.start();
    const other = await open(lost.endpoint);
    const made = [];
    for (let i = 0; i < 10; i++) made.push(await other.create(`/of-now-${i}`, bytes('0')));
    expect(other.revision).toBeGreaterThan(away.revision);
    gap.resume();
    gap.cut();
    await until(() => watch.ends.length > 0);
    expect(watch.ends.map((end) => end.code)).toEqual(['compacted']);
    expect(watch.events).toEqual([]);
    expect((await away.list(prefixRange('/'))).entries).toEqual(made);
    await Promise.all([away.close(), other.close()]);
    await gap.stop();
    await lost.stop();
  });
});

describe('compaction', () => {
  it('under a watcher that was cut off ends it with compacted; the store shows the new state', async () => {
    const slow = await open(proxy.endpoint);
    const other = await open(etcd.endpoint);
    let entry = await other.create('/a', bytes('0'));
    const watch = await record(slow, prefixRange('/'), slow.revision);
    proxy.hole();
    for (let i = 1; i <= 10; i++) entry = await other.update('/a', bytes(String(i)), entry.revision);
    await other.compact(entry.revision);
    proxy.cut();
    proxy.resume();
    await until(() => watch.ends.length > 0);
    expect(watch.ends.map((end) => end.code)).toEqual(['compacted']);
    await until(() => slow.revision >= entry.revision);
    expect(text(await slow.get('/a'))).toBe('10');
    expect(slow.compacted).toBe(entry.revision);
    const again = await record(slow, prefixRange('/'), entry.revision);
    await slow.update('/a', bytes('11'), entry.revision);
    await until(() => again.events.length === 1);
    expect(text(again.events[0]!.previous)).toBe('10');
  });
});
