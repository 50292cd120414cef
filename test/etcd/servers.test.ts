import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Connection } from '../../storage/etcd/connection.ts';
import { holdLease } from '../../storage/etcd/lease.ts';
import { openEtcd } from '../../storage/etcd/open.ts';
import type { EtcdOptions } from '../../storage/etcd/options.ts';
import { range, txn } from '../../storage/etcd/wire.ts';
import { prefixRange, type Store, type StoreError } from '../../storage/store.ts';
import { bytes, fails, record, text } from '../contract/store.ts';
import { until } from '../contract/until.ts';
import { patienceMs } from '../eventually.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { asLog, faults } from './journal.ts';

const EVERYTHING = prefixRange('/');

let etcd: Etcd;
let foreign: Connection;
const stores: Store[] = [];
let prefixes = 0;
let prefix = '/servers-0';

async function open(options: Partial<EtcdOptions> = {}): Promise<Store> {
  const store = await openEtcd({ endpoints: [etcd.endpoint], prefix, compaction: false, ...options });
  stores.push(store);
  return store;
}

/** Somebody else's write to the same etcd: a revision that is not ours. */
async function elsewhere(...keys: string[]): Promise<void> {
  const success = keys.map((key) => ({ put: { key: bytes(key), value: bytes('x') } }));
  await foreign.call(txn, { compare: [], success, failure: [] });
}

beforeAll(async () => {
  etcd = await startEtcd();
  foreign = new Connection({ endpoints: [etcd.endpoint] });
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  prefix = `/servers-${++prefixes}`;
});
afterAll(async () => {
  foreign.close();
  await etcd.stop();
});

describe('two servers on one etcd', () => {
  it('read what the other was told is written, at once, whatever else etcd is busy with', async () => {
    const [a, b] = [await open(), await open()];
    let busy = true;
    const noise = (async () => {
      while (busy) await Promise.all([elsewhere('/other/1'), elsewhere('/other/2', '/other/3')]);
    })();
    let entry = await a.create('/k', bytes('0'));
    for (let i = 1; i <= 100; i++) {
      const [writer, reader] = i % 2 ? [a, b] : [b, a];
      entry = await writer.update('/k', bytes(String(i)), entry.revision);
      expect(await reader.get('/k')).toEqual(entry);
      expect((await reader.list(EVERYTHING)).entries).toEqual([entry]);
    }
    busy = false;
    await noise;
  });

  it('let one of them win each compare-and-swap, and watch the same events in the same order', async () => {
    const both = [await open(), await open()];
    const watches = await Promise.all(both.map((store) => record(store, EVERYTHING, store.revision)));
    await both[0]!.create('/n', bytes('0'));
    let conflicts = 0;
    const count = async (store: Store): Promise<void> => {
      for (let done = 0; done < 25; ) {
        const entry = (await store.get('/n'))!;
        try {
          await store.update('/n', bytes(String(Number(text(entry)) + 1)), entry.revision);
          done++;
        } catch (error) {
          expect((error as StoreError).code).toBe('conflict');
          conflicts++;
        }
      }
    };
    await Promise.all([...both, ...both, ...both, ...both].map(count));
    expect(text(await both[1]!.get('/n'))).toBe('200');
    expect(conflicts).toBeGreaterThan(0);
    await until(() => watches.every((watch) => watch.events.length === 201));
    expect(watches.map((watch) => faults(watch.events))).toEqual([[], []]);
    expect(asLog(watches[0]!.events)).toEqual(asLog(watches[1]!.events));
  });

  it('resume a watch that began at the other', async () => {
    const [a, b] = [await open(), await open()];
    const made = await a.create('/1', bytes('1'));
    await a.update('/1', bytes('2'), made.revision);
    const late = await open();
    for (const store of [b, late]) {
      const watch = await record(store, EVERYTHING, made.revision);
      await until(() => watch.events.length === 1);
      expect(text(watch.events[0]!.previous)).toBe('1');
    }
  });
});

describe('other writers on the same etcd', () => {
  it('leave gaps between the revisions and disturb nothing', async () => {
    const store = await open();
    await elsewhere('/other/1');
    const first = await store.create('/a', bytes('1'));
    await elsewhere('/other/1');
    await elsewhere('/other/1');
    const second = await store.update('/a', bytes('2'), first.revision);
    expect(second.revision).toBe(first.revision + 3);
    await elsewhere('/other/2');
    expect(text(await store.get('/a', { revision: second.revision - 1 }))).toBe('1');
    const list = await store.list(EVERYTHING);
    expect(list.revision).toBe(second.revision + 1);
    expect(store.revision).toBe(second.revision + 1);
    for (const after of [first.revision, first.revision + 1, second.revision - 1]) {
      const watch = await record(store, EVERYTHING, after);
      expect(asLog(watch.events).map((e) => e.revision)).toEqual([second.revision]);
      watch.stop();
    }
    await fails(store.get('/a', { revision: store.revision + 1 }), 'future');
    await store.compact(list.revision);
    expect(text(await store.get('/a'))).toBe('2');
  });

  it('may change several of our keys in one transaction', async () => {
    const [store, late] = [await open(), () => open()];
    const after = store.revision;
    const live = await record(store, EVERYTHING, after);
    await elsewhere(`${prefix}/data/x`, `${prefix}/data/y`);
    await until(() => live.events.length === 2);
    const entries = (await store.list(EVERYTHING)).entries;
    expect(entries.map((e) => [e.key, e.revision])).toEqual([
      ['/x', after + 1],
      ['/y', after + 1],
    ]);
    for (const other of [store, await late()]) {
      const history = await record(other, EVERYTHING, after);
      expect(asLog(history.events)).toEqual(asLog(live.events));
      expect((await record(other, EVERYTHING, after + 1)).events).toEqual([]);
    }
  });
});

describe('a lease', () => {
  it('outlives its time while it is kept alive, and is given up when etcd does not answer', async () => {
    const own = await startEtcd();
    const connection = new Connection({ endpoints: [own.endpoint] });
    const key = bytes('/leased');
    const leased = async () => (await connection.call(range, { key })).kvs.length;
    const hold = async () => {
      const lease = await holdLease(connection, 2);
      const put = { put: { key, value: bytes(''), lease: lease.id } };
      await connection.call(txn, { compare: [], success: [put], failure: [] });
      return lease;
    };
    let lease = await hold();
    for (let [from, last] = [performance.now(), performance.now()]; last < from + 4000; await sleep(200)) {
      const count = await leased();
      if (performance.now() - last > 600) {
        // Whoever had no processor kept nothing alive: it begins anew.
        lease = await hold();
        from = performance.now();
      } else expect(count).toBe(1);
      last = performance.now();
    }
    expect(lease.lost.aborted).toBe(false);
    await own.kill();
    const killed = performance.now();
    await until(() => lease.lost.aborted);
    expect(performance.now() - killed).toBeLessThan(60_000);
    await own.start();
    const next = await holdLease(connection, 2);
    await connection.call(txn, {
      compare: [],
      success: [{ put: { key, value: bytes(''), lease: next.id } }],
      failure: [],
    });
    await next.release();
    expect(await leased()).toBe(0);
    connection.close();
    await own.stop();
  });
});

describe('limits', () => {
  it('are surfaced as too-large, whether etcd or gRPC refuses', async () => {
    const store = await open();
    await fails(store.create('/a', new Uint8Array(1_600_000)), 'too-large');
    await fails(store.create('/a', new Uint8Array(4 << 20)), 'too-large');
    const entry = await store.create('/a', new Uint8Array(1_500_000));
    await fails(store.update('/a', new Uint8Array(1_600_000), entry.revision), 'too-large');
    expect((await store.get('/a'))?.value.length).toBe(1_500_000);
  });
});

describe('many large values', () => {
  it('are no reason not to start: each page of them is answered in time', async () => {
    const store = await open();
    const value = new Uint8Array(1_000_000);
    for (let i = 0; i < 64; i++) await store.create(`/large/${i}`, value);
    const another = await open({ patienceMs: 6_000 });
    expect((await another.list(EVERYTHING)).entries).toHaveLength(64);
  });
});

describe('a full etcd', () => {
  it('refuses writes as full, and still deletes; the store says so until one succeeds', async () => {
    const small = await startEtcd({ args: ['--quota-backend-bytes', String(4 << 20)] });
    const told: string[] = [];
    const note = (_: object, message: string) => void told.push(message);
    const logger = { info: note, warn: note };
    const store = await openEtcd({ endpoints: [small.endpoint], compaction: false, logger });
    stores.push(store);
    const first = await store.create('/0', new Uint8Array(500_000));
    expect(store.refusing).toBeUndefined();
    const fill = async (): Promise<void> => {
      // etcd learns how large it is when it commits, every 100 ms.
      for (let i = 1; i < 400; i++) await store.create(`/${i}`, new Uint8Array(500_000));
    };
    await fails(fill(), 'full');
    await fails(store.update('/0', bytes('1'), first.revision), 'full');
    expect((await store.delete('/0', first.revision)).created).toBe(first.revision);
    expect(await store.get('/0')).toBeUndefined();
    await fails(store.delete('/0', first.revision), 'missing');
    expect(store.refusing).toContain('database space exceeded');
    await makeRoom(small, store);
    await store.create('/0', bytes('2'));
    expect(store.refusing).toBeUndefined();
    expect(told).toEqual([
      'creates and updates are refused, reads go on: etcd is full',
      'creates and updates are accepted again',
    ]);
    await small.stop();
  });
});

/** As etcd's own manual has it: forget, give back, disarm. */
async function makeRoom({ endpoint }: Etcd, store: Store): Promise<void> {
  const ask = async (path: string, body: object): Promise<unknown> =>
    (await fetch(`http://${endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const { entries } = await store.list(EVERYTHING);
  for (const { key, revision } of entries) await store.delete(key, revision);
  await ask('kv/compaction', { revision: store.revision, physical: true });
  await ask('maintenance/defragment', {});
  const { alarms } = (await ask('maintenance/alarm', { action: 'GET' })) as { alarms: object[] };
  for (const alarm of alarms) await ask('maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
}

describe('compaction', () => {
  it('is done by one server, and by the other once that is gone; all learn of it', async () => {
    const compaction = { intervalMs: 300, leaseSeconds: 9 };
    const key = bytes(`${prefix}/meta/compactor`);
    const holder = async () => (await foreign.call(range, { key })).kvs[0];
    const a = await open({ compaction });
    let entry = await a.create('/a', bytes('0'));
    while ((await holder()) === undefined) entry = await a.update('/a', bytes('1'), entry.revision);
    const elected = (await holder())!.createRevision;
    const b = await open({ compaction });
    await until(() => a.compacted > 0 && b.compacted > 0);
    expect((await holder())!.createRevision).toEqual(elected);
    await fails(b.get('/a', { revision: Math.max(0, b.compacted - 1) }), 'compacted');
    await a.close();
    const before = b.compacted;
    for (let i = 0; i < 3; i++) entry = await b.update('/a', bytes('2'), entry.revision);
    await until(() => b.compacted > before);
    expect((await holder())!.createRevision).not.toEqual(elected);
    expect(text(await b.get('/a'))).toBe('2');
  });

  it('sweeps the marks of writers that are gone, and an idle one goes on', async () => {
    const store = await open({ compaction: { intervalMs: 200, leaseSeconds: 2 } });
    let entry = await store.create('/a', bytes('0'));
    const bounds = { key: bytes(`${prefix}/meta/writers/`), rangeEnd: bytes(`${prefix}/meta/writers0`) };
    const marks = async () => (await foreign.call(range, bounds)).kvs.length;
    expect(await marks()).toBe(1);
    await until(() => store.compacted >= entry.revision);
    for (const deadline = Date.now() + patienceMs; (await marks()) > 0 && Date.now() < deadline; ) {
      await elsewhere('/other/1');
    }
    expect(await marks()).toBe(0);
    entry = await store.update('/a', bytes('1'), entry.revision);
    expect(text(await store.get('/a'))).toBe('1');
  });
});
