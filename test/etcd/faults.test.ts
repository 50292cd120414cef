import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEtcd } from '../../storage/etcd/open.ts';
import type { EtcdOptions } from '../../storage/etcd/options.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { bytes, fails, record, text } from '../contract/store.ts';
import { until } from '../contract/until.ts';
import { type Etcd, startCluster, startEtcd } from './etcd.ts';
import { asLog, faults, writeUntil } from './journal.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

const JOURNAL = prefixRange('/journal/');

let etcd: Etcd;
let proxy: FaultyProxy;
const stores: Store[] = [];
let prefixes = 0;
let prefix = '';
const nextPrefix = (): void => {
  prefix = `/faults-${prefixes++}`;
};

async function open(options: Partial<EtcdOptions> = {}): Promise<Store> {
  const store = await openEtcd({ endpoints: [etcd.endpoint], prefix, compaction: false, ...options });
  stores.push(store);
  return store;
}

const behindProxy = () => open({ endpoints: [proxy.endpoint] });

beforeAll(async () => {
  etcd = await startEtcd({ fsync: true });
  proxy = await startProxy(etcd.port);
  nextPrefix();
});
afterEach(async () => {
  proxy.cut();
  proxy.resume();
  await Promise.all(stores.splice(0).map((store) => store.close()));
  nextPrefix();
});
afterAll(async () => {
  await proxy.stop();
  await etcd.stop();
});

/** Everything that happened, from etcd itself: a store opened afterwards has no history of its own. */
async function truth(after: number, endpoints: readonly string[]): Promise<ReturnType<typeof asLog>> {
  const fresh = await open({ endpoints });
  return asLog((await record(fresh, JOURNAL, after)).events);
}

/** Runs writers and a watch through a fault; what was acknowledged, seen and is true must agree. */
async function through(store: Store, width: number, fault: () => Promise<void>, endpoints = [etcd.endpoint]) {
  const base = store.revision;
  const watch = await record(store, JOURNAL, base);
  // Another server sees the same.
  const second = await record(await open({ endpoints }), JOURNAL, base);
  const stop = new AbortController();
  const writers = Array.from({ length: width }, (_, i) => writeUntil(store, `w${i}`, stop.signal));
  await until(() => watch.events.length > 50);
  await fault();
  const before = watch.events.length;
  await until(() => watch.events.length > before + 50);
  stop.abort();
  const results = await Promise.all(writers);
  const real = await truth(base, endpoints);
  await until(
    () => watch.events.length >= real.length,
    () => `${watch.events.length} of ${real.length} events, ${watch.ends}`,
  );
  await until(() => second.events.length >= real.length);
  for (const { ends, events } of [watch, second]) {
    expect(ends).toEqual([]);
    expect(faults(events)).toEqual([]);
    expect(asLog(events)).toEqual(real);
  }
  const happened = new Set(real.map((write) => JSON.stringify(write)));
  const acknowledged = results.flatMap(({ log }) => log);
  expect(acknowledged.filter((write) => !happened.has(JSON.stringify(write)))).toEqual([]);
  expect(results.flatMap(({ wrong }) => wrong)).toEqual([]);
  return { acknowledged, real, doubts: results.reduce((sum, { doubts }) => sum + doubts, 0) };
}

describe('writers and a watch lose nothing and see nothing twice', () => {
  it('when etcd is killed and started again, twice', async () => {
    const { acknowledged, real, doubts } = await through(await open(), 16, async () => {
      for (let i = 0; i < 2; i++) {
        await etcd.kill();
        await sleep(300);
        await etcd.start();
        await sleep(300);
      }
    });
    // Retries settle every outcome: each write that happened was acknowledged, exactly once.
    expect(doubts).toBe(0);
    expect(acknowledged).toHaveLength(real.length);
  });

  it('when the network holds everything back for 3 s', async () => {
    const { acknowledged, real, doubts } = await through(await behindProxy(), 16, async () => {
      proxy.hole();
      await sleep(3000);
      proxy.resume();
    });
    expect(doubts).toBe(0);
    expect(acknowledged).toHaveLength(real.length);
  });

  it('when answers are lost after their writes happened, again and again', async () => {
    const { acknowledged, real, doubts } = await through(await behindProxy(), 16, async () => {
      for (let i = 0; i < 5; i++) {
        proxy.swallowAnswers();
        await sleep(100);
        proxy.cut();
        await sleep(300);
      }
    });
    expect(doubts).toBe(0);
    expect(acknowledged).toHaveLength(real.length);
  });

  it('when etcd cannot be heard at one endpoint and answers at another', async () => {
    const store = await open({ endpoints: [proxy.endpoint, etcd.endpoint] });
    const { acknowledged, real, doubts } = await through(store, 8, async () => proxy.hole());
    expect(doubts).toBe(0);
    expect(acknowledged).toHaveLength(real.length);
  });
});

describe('a cluster of three', () => {
  it('goes on while one member after the other is killed and comes back', async () => {
    const members = await startCluster(3);
    const endpoints = members.map((member) => member.endpoint);
    try {
      const { acknowledged, real, doubts } = await through(
        await open({ endpoints }),
        8,
        async () => {
          for (const member of members) {
            await member.kill();
            await sleep(500);
            await member.start();
            await sleep(500);
          }
        },
        endpoints,
      );
      expect(doubts).toBe(0);
      expect(acknowledged).toHaveLength(real.length);
    } finally {
      await Promise.all(members.map((member) => member.stop()));
    }
  });
});

describe('a write whose answer is lost', () => {
  it('is reported as it happened: create, update, delete', async () => {
    const store = await behindProxy();
    await store.create('/a', bytes('0'));
    const first = (await store.get('/a'))!;
    const writes = [
      () => store.create('/b', bytes('1')),
      () => store.update('/a', bytes('1'), first.revision),
      async () => store.delete('/b', (await (await open()).get('/b'))!.revision),
    ];
    for (const write of writes) {
      const other = await open();
      const before = other.revision;
      proxy.swallowAnswers();
      const written = write();
      const watch = await record(other, prefixRange('/'), before);
      await until(() => watch.events.length > 0);
      proxy.cut();
      expect((await written).revision).toBe(watch.events[0]!.entry.revision);
      expect(watch.events).toHaveLength(1);
    }
  });

  it('is not taken for the same bytes of somebody else', async () => {
    const store = await behindProxy();
    const other = await open();
    const { revision } = await store.create('/a', bytes('0'));
    proxy.hole();
    const mine = fails(store.update('/a', bytes('same'), revision), 'conflict');
    const theirs = await other.update('/a', bytes('same'), revision);
    proxy.cut();
    proxy.resume();
    expect((await mine).current?.revision).toBe(theirs.revision);
  });

  it('fails as unavailable when etcd stays away, as reads do; then all goes on', async () => {
    const store = await open({ endpoints: [proxy.endpoint], patienceMs: 1000 });
    const entry = await store.create('/a', bytes('0'));
    const watch = await record(store, prefixRange('/'), entry.revision);
    proxy.hole();
    await Promise.all([
      fails(store.update('/a', bytes('1'), entry.revision), 'unavailable'),
      fails(store.get('/a'), 'unavailable'),
      fails(store.list(prefixRange('/')), 'unavailable'),
    ]);
    proxy.cut();
    proxy.resume();
    await store.update('/a', bytes('2'), (await store.get('/a'))!.revision);
    await until(() => text(watch.events.at(-1)?.entry) === '2');
    expect(watch.ends).toEqual([]);
  });

  it('fails to open as unavailable where nothing answers', async () => {
    await fails(openEtcd({ endpoints: ['127.0.0.1:1'], patienceMs: 300 }), 'unavailable');
    await fails(openEtcd({ endpoints: [] }), 'unavailable');
  });
});
