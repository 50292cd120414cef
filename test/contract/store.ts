import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Entry,
  prefixRange,
  type Range,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreEvent,
} from '../../storage/store.ts';
import { backups } from './backups.ts';
import { leases } from './leases.ts';
import { until } from './until.ts';

export interface StoreUnderTest {
  store: Store;
  /** Closes the store and opens the same data again; absent when nothing outlives the process. */
  reopen?: () => Promise<Store>;
  dispose: () => Promise<void>;
}

const ALL: Range = { start: '', end: '\x7f' };

export function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

export function text(entry: Entry | undefined): string | undefined {
  return entry && Buffer.from(entry.value).toString();
}

export async function fails(promise: Promise<unknown>, code: StoreErrorCode): Promise<StoreError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).code).toBe(code);
  return error as StoreError;
}

/** A watch that remembers everything. */
export async function record(store: Store, range: Range, after: number) {
  const events: StoreEvent[] = [];
  const ends: StoreError[] = [];
  const stop = await store.watch(range, {
    after,
    sink: (batch) => events.push(...batch),
    onEnd: (reason) => ends.push(reason),
  });
  return { events, ends, stop, seen: () => events.map(describeEvent) };
}

function describeEvent({ type, entry, previous }: StoreEvent): string {
  const change = `${text(previous) ?? '-'}>${type === 'put' ? text(entry) : '-'}`;
  return `${entry.revision} ${entry.key} ${change}`;
}

export interface ContractOptions {
  /** Bytes of a value that the backend must take, if it is not the 3 MiB that the API server allows. */
  largest?: number;
}

/** What every backend must pass: the promises in storage/store.ts, one by one. */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { largest = 3 << 20 }: ContractOptions = {},
): void {
  describe(`store contract: ${name}`, () => {
    let under: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.dispose());
    const now = () => store;

    describe('single keys', () => singleKeys(now, largest));
    describe('concurrency', () => concurrency(now));
    describe('lists', () => lists(now));
    describe('history', () => history(now));
    describe('watches', () => watches(now));
    describe('leases', () => leases(() => under));
    describe('backups', () => backups(now));
    describe('closing', () => closing(now));
    describe('restarts', () => restarts(() => under));
    it('does what a trivial model does, whatever the operations', () => againstModel(open));
  });
}

function singleKeys(now: () => Store, largest: number): void {
  it('starts empty at revision 0', async () => {
    expect(now().revision).toBe(0);
    expect(now().compacted).toBe(0);
    expect(await now().get('/a/b')).toBeUndefined();
    expect(await now().list(ALL)).toEqual({ entries: [], revision: 0, more: false, remaining: 0 });
  });

  it('gives each write the next revision, and keeps the creation revision', async () => {
    const store = now();
    const made = await store.create('/a/b', bytes('1'));
    expect(made).toMatchObject({ key: '/a/b', revision: 1, created: 1 });
    const changed = await store.update('/a/b', bytes('2'), 1);
    expect(changed).toMatchObject({ revision: 2, created: 1 });
    expect(text(await store.get('/a/b'))).toBe('2');
    const gone = await store.delete('/a/b', 2);
    expect(gone).toMatchObject({ revision: 3, created: 1 });
    expect(text(gone)).toBe('2');
    expect(await store.get('/a/b')).toBeUndefined();
    expect((await store.create('/a/b', bytes('3'))).created).toBe(4);
    expect(store.revision).toBe(4);
  });

  it('keeps empty and large values exact', async () => {
    const large = new Uint8Array(largest).map((_, i) => i % 251);
    await now().create('/empty', bytes(''));
    await now().create('/large', large);
    expect((await now().get('/empty'))?.value.length).toBe(0);
    expect(Buffer.compare((await now().get('/large'))?.value ?? bytes(''), large)).toBe(0);
  });

  it('refuses what does not fit the current state, and changes nothing', async () => {
    const store = now();
    await store.create('/a', bytes('1'));
    expect((await fails(store.create('/a', bytes('2')), 'exists')).key).toBe('/a');
    expect(text((await fails(store.update('/a', bytes('2'), 7), 'conflict')).current)).toBe('1');
    expect((await fails(store.delete('/a', 7), 'conflict')).current?.revision).toBe(1);
    await fails(store.update('/b', bytes('2'), 1), 'missing');
    await fails(store.delete('/b', 1), 'missing');
    await fails(store.create('/big', new Uint8Array(9 << 20)), 'too-large');
    await expect(store.create('/ä', bytes(''))).rejects.toThrow(TypeError);
    expect(store.revision).toBe(1);
  });
}

function concurrency(now: () => Store): void {
  it('lets 64 writers count on 10 keys without losing one', async () => {
    const store = now();
    const keys = Array.from({ length: 10 }, (_, i) => `/n/${i}`);
    for (const key of keys) await store.create(key, bytes('0'));
    const watch = await record(store, ALL, 0);
    const revisions: number[] = [];
    const writers = Array.from({ length: 64 }, async (_, w) => {
      for (let done = 0; done < 5; ) {
        const entry = (await store.get(keys[(w + done) % 10]!))!;
        try {
          const next = await store.update(entry.key, bytes(String(Number(text(entry)) + 1)), entry.revision);
          expect((await store.get(entry.key))!.revision).toBeGreaterThanOrEqual(next.revision);
          revisions.push(next.revision);
          done++;
        } catch (error) {
          expect((error as StoreError).code).toBe('conflict');
        }
      }
    });
    await Promise.all(writers);
    const sum = (await store.list(ALL)).entries.reduce((total, entry) => total + Number(text(entry)), 0);
    expect(sum).toBe(320);
    expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 320 }, (_, i) => i + 11));
    await until(() => watch.events.length === 330);
    expect(watch.events.map((e) => e.entry.revision)).toEqual(Array.from({ length: 330 }, (_, i) => i + 1));
  });

  it('lets one of many creators of a key win', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => now().create('/one', bytes(String(i)))),
    );
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
    expect(results.filter((r) => r.status === 'rejected' && r.reason.code === 'exists')).toHaveLength(19);
    expect(now().revision).toBe(1);
  });
}

function lists(now: () => Store): void {
  it('orders by bytes and takes start, not end', async () => {
    for (const key of ['/b/2', '/a/x', '/b', '/b/10', '/b/', '/c/0', '/b0'])
      await now().create(key, bytes(key));
    const keys = async (range: Range) => (await now().list(range)).entries.map((e) => e.key);
    expect(await keys(prefixRange('/b/'))).toEqual(['/b/', '/b/10', '/b/2']);
    expect(await keys({ start: '/b/10', end: '/b0' })).toEqual(['/b/10', '/b/2']);
    expect(await keys({ start: '/z', end: '/zz' })).toEqual([]);
    expect(await keys(ALL)).toEqual(['/a/x', '/b', '/b/', '/b/10', '/b/2', '/b0', '/c/0']);
  });

  it('pages through one revision while others write', async () => {
    const store = now();
    const name = (i: number) => `/p/${String(i).padStart(4, '0')}`;
    await Promise.all(Array.from({ length: 1300 }, (_, i) => store.create(name(i), bytes('old'))));
    const whole = await store.list(prefixRange('/p/'));
    const paged: Entry[] = [];
    let after: string | undefined;
    for (let page = 0; ; page++) {
      const options = { revision: whole.revision, limit: 97, ...(after !== undefined && { after }) };
      const result = await store.list(prefixRange('/p/'), options);
      paged.push(...result.entries);
      expect(result.revision).toBe(whole.revision);
      expect(result.remaining).toBe(1300 - paged.length);
      expect(result.more).toBe(paged.length < 1300);
      if (!result.more) break;
      after = result.entries[result.entries.length - 1]!.key;
      const victim = whole.entries[1299 - page * 7]!;
      await store.delete(victim.key, victim.revision);
      await store.create(`/p/${page}-new`, bytes('new'));
      const changed = whole.entries[1298 - page * 7]!;
      await store.update(changed.key, bytes('new'), changed.revision);
    }
    expect(paged).toEqual(whole.entries);
  });

  it('tells at once what is newest of a small range, and of a large one that it takes longer', async () => {
    const store = now();
    const { revision } = await store.create('/few/a', bytes('1'));
    await store.create('/few/b', bytes('2'));
    await store.update('/few/a', bytes('3'), revision);
    const gone = await store.create('/few/c', bytes('4'));
    await store.delete('/few/c', gone.revision);
    const newest = async () => (await store.list(prefixRange('/few/'))).entries.map(text);
    // A store that has to ask knows it a moment later.
    const recent = async (range: Range) => {
      await until(() => store.recent?.(range) !== undefined);
      return store.recent?.(range)?.map(text);
    };
    expect(await newest()).toEqual(['3', '2']);
    expect(await recent(prefixRange('/few/'))).toEqual(['3', '2']);
    expect(await recent({ start: '/few/a', end: '/few/a\0' })).toEqual(['3']);
    expect(await recent(prefixRange('/none/'))).toEqual([]);
    const changed = await store.update('/few/b', bytes('5'), (await store.get('/few/b'))?.revision ?? 0);
    expect(await recent(prefixRange('/few/'))).toEqual(['3', '5']);
    await store.delete('/few/b', changed.revision);
    expect(await recent(prefixRange('/few/'))).toEqual(['3']);
    await Promise.all(Array.from({ length: 300 }, (_, i) => store.create(`/many/${i}`, bytes('x'))));
    expect(store.recent?.(prefixRange('/many/'))).toBeUndefined();
  });

  it('tells what was seen last of a key, and what is written over it is written over just that', async () => {
    const store = now();
    expect(store.seen?.('/a')).toBeUndefined();
    const first = await store.create('/a', bytes('1'));
    const { seen: known } = await record(store, ALL, 0);
    const versions = new Map([[first.revision, '1']]);
    for (let i = 2; i < 6; i++) {
      const there = await store.get('/a');
      const written = await store.update('/a', bytes(`${i}`), there?.revision ?? 0);
      versions.set(written.revision, `${i}`);
      const seen = store.seen?.('/a');
      if (seen === undefined) continue;
      expect([seen.key, versions.get(seen.revision)]).toEqual(['/a', text(seen)]);
      expect(seen.created).toBe(first.revision);
    }
    await until(() => known().length === 5);
    const last = await store.get('/a');
    if (store.seen?.('/a')) expect(store.seen('/a')).toEqual(last);
    await store.delete('/a', last?.revision ?? 0);
    expect(store.seen?.('/a')).toBeUndefined();
    await fails(store.update('/a', bytes('late'), last?.revision ?? 0), 'missing');
    expect(store.seen?.('/a')).toBeUndefined();
  });

  it('takes an exact limit as the end, and a cursor outside the range', async () => {
    for (const key of ['/a/1', '/a/2', '/a/3']) await now().create(key, bytes(''));
    const range = prefixRange('/a/');
    expect(await now().list(range, { limit: 3 })).toMatchObject({ more: false, remaining: 0 });
    expect(await now().list(range, { limit: 2 })).toMatchObject({ more: true, remaining: 1 });
    expect((await now().list(range, { after: '/a/3' })).entries).toEqual([]);
    expect((await now().list(range, { after: '/' })).entries).toHaveLength(3);
  });
}

function history(now: () => Store): void {
  it('answers as of every revision', async () => {
    const store = now();
    await store.create('/a', bytes('a1'));
    await store.create('/b', bytes('b2'));
    await store.update('/a', bytes('a3'), 1);
    await store.delete('/b', 2);
    await store.create('/b', bytes('b5'));
    const states = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (revision) =>
        (await store.list(ALL, { revision })).entries.map((e) => text(e)).join(' '),
      ),
    );
    expect(states).toEqual(['', 'a1', 'a1 b2', 'a3 b2', 'a3', 'a3 b5']);
    expect(text(await store.get('/a', { revision: 2 }))).toBe('a1');
    expect(await store.get('/b', { revision: 4 })).toBeUndefined();
    await fails(store.get('/a', { revision: 6 }), 'future');
    await fails(store.list(ALL, { revision: 6 }), 'future');
  });

  it('forgets what was compacted and nothing else', async () => {
    const store = now();
    const first = await store.create('/a', bytes('1'));
    await store.update('/a', bytes('2'), first.revision);
    await store.create('/b', bytes('3'));
    await store.delete('/b', 3);
    await store.update('/a', bytes('5'), 2);
    await store.compact(4);
    expect(store.compacted).toBe(4);
    expect(store.revision).toBe(5);
    await fails(store.get('/a', { revision: 3 }), 'compacted');
    await fails(store.list(ALL, { revision: 3 }), 'compacted');
    await fails(store.watch(ALL, { after: 3, sink: () => {} }), 'compacted');
    expect(text(await store.get('/a', { revision: 4 }))).toBe('2');
    const watch = await record(store, ALL, 4);
    await until(() => watch.events.length > 0);
    expect(watch.seen()).toEqual(['5 /a 2>5']);
    await store.compact(2);
    expect(store.compacted).toBe(4);
    await fails(store.compact(6), 'future');
    await store.compact(5);
    expect(text(await store.get('/a'))).toBe('5');
    expect(await store.get('/b')).toBeUndefined();
    expect((await store.create('/b', bytes('6'))).revision).toBe(6);
  });
}

function watches(now: () => Store): void {
  /** Ten writes to two folders. */
  async function writeSome(store: Store): Promise<void> {
    await store.create('/a/1', bytes('1'));
    await store.create('/b/1', bytes('2'));
    await store.update('/a/1', bytes('3'), 1);
    await store.delete('/b/1', 2);
    await store.create('/a/2', bytes('5'));
    await store.create('/b/1', bytes('6'));
    await store.delete('/a/1', 3);
    await store.update('/a/2', bytes('8'), 5);
    await store.create('/a/1', bytes('9'));
    await store.delete('/b/1', 6);
  }
  const inA = ['1 /a/1 ->1', '3 /a/1 1>3', '5 /a/2 ->5', '7 /a/1 3>-', '8 /a/2 5>8', '9 /a/1 ->9'];

  it('resume at every revision', async () => {
    const store = now();
    await writeSome(store);
    for (let after = 0; after <= 10; after++) {
      const watch = await record(store, prefixRange('/a/'), after);
      await store.update('/a/2', bytes('8'), (await store.get('/a/2'))!.revision);
      await until(() => watch.events.length > inA.filter((e) => Number.parseInt(e, 10) > after).length);
      expect(watch.seen().filter((e) => Number.parseInt(e, 10) <= 10)).toEqual(
        inA.filter((e) => Number.parseInt(e, 10) > after),
      );
      watch.stop();
    }
  });

  it('deliver live what they deliver as history', async () => {
    const store = now();
    const watch = await record(store, prefixRange('/a/'), 0);
    await writeSome(store);
    await until(() => watch.events.length === 6);
    expect(watch.seen()).toEqual(inA);
    expect(watch.events[3]).toMatchObject({
      type: 'delete',
      entry: { revision: 7, created: 1 },
      previous: { revision: 3 },
    });
    expect(text(watch.events[3]?.entry)).toBe('3');
  });

  it('that begin amid writes get each event once, in order', async () => {
    const store = now();
    const writing = Promise.all(Array.from({ length: 400 }, (_, i) => store.create(`/w/${i}`, bytes(''))));
    const started: Awaited<ReturnType<typeof record>>[] = [];
    for (let i = 0; i < 20; i++) {
      started.push(await record(store, prefixRange('/w/'), 0));
      await store.create(`/w/more-${i}`, bytes(''));
    }
    await writing;
    const all = Array.from({ length: 420 }, (_, i) => i + 1);
    for (const watch of started) {
      await until(() => watch.events.length >= 420);
      expect(watch.events.map((e) => e.entry.revision)).toEqual(all);
    }
  });

  it('see only their range, however odd', async () => {
    const store = now();
    const ranges: Range[] = [
      ALL,
      prefixRange('/a/'),
      prefixRange('/a/1'),
      { start: '/a/1', end: '/a/1\0' },
      { start: '/a/1', end: '/b/0' },
      { start: '/b', end: '/a' },
    ];
    const watching = await Promise.all(ranges.map((range) => record(store, range, 0)));
    const keys = ['/a/1', '/a/10', '/a/2', '/a/1/x', '/b', '/b/', '/b/1', '/a', '/0'];
    for (const key of keys) await store.create(key, bytes(''));
    await until(() => watching[0]!.events.length === keys.length);
    for (const [i, range] of ranges.entries()) {
      const expected = keys.filter((key) => key >= range.start && key < range.end);
      expect(watching[i]!.events.map((e) => e.entry.key)).toEqual(expected);
    }
  });

  it('fail for the future', async () => {
    await fails(now().watch(ALL, { after: 1, sink: () => {} }), 'future');
  });

  it('stop when told, by function or signal, and say nothing more', async () => {
    const store = now();
    const stopped = await record(store, ALL, 0);
    const control = new AbortController();
    const aborted: StoreEvent[] = [];
    const ends: unknown[] = [];
    const options = {
      after: 0,
      sink: (e: readonly StoreEvent[]) => aborted.push(...e),
      onEnd: (r: unknown) => ends.push(r),
    };
    await store.watch(ALL, { ...options, signal: control.signal });
    const witness = await record(store, ALL, 0);
    await store.create('/1', bytes(''));
    await until(() => witness.events.length === 1);
    stopped.stop();
    stopped.stop();
    control.abort();
    await store.watch(ALL, { ...options, signal: control.signal });
    await store.create('/2', bytes(''));
    await until(() => witness.events.length === 2);
    expect([stopped.events.length, aborted.length, stopped.ends.length, ends.length]).toEqual([1, 1, 0, 0]);
  });

  it('end alone when their sink throws', async () => {
    const store = now();
    const ends: StoreError[] = [];
    const sink = () => {
      throw new Error('sink');
    };
    await store.watch(ALL, { after: 0, sink, onEnd: (reason) => ends.push(reason) });
    const other = await record(store, ALL, 0);
    await store.create('/1', bytes(''));
    await store.create('/2', bytes(''));
    await until(() => other.events.length === 2);
    expect(ends).toHaveLength(1);
  });

  it('may write from the sink without disturbing the order', async () => {
    const store = now();
    const writes: Promise<unknown>[] = [];
    await store.watch(prefixRange('/in/'), {
      after: 0,
      sink: (events) => {
        for (const { entry } of events) writes.push(store.create(`/out/${entry.revision}`, bytes('')));
      },
    });
    const other = await record(store, ALL, 0);
    for (let i = 0; i < 5; i++) await store.create(`/in/${i}`, bytes(''));
    await until(() => other.events.length === 10);
    await Promise.all(writes);
    expect(other.events.map((e) => e.entry.revision)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('give nothing live before the caller has its stop function', async () => {
    const store = now();
    let started = false;
    const early: boolean[] = [];
    const starting = store.watch(ALL, { after: 0, sink: () => early.push(!started) });
    const written = store.create('/1', bytes(''));
    const wrapped = (async () => starting)();
    await wrapped;
    started = true;
    await written;
    await until(() => early.length === 1);
    expect(early).toEqual([false]);
  });

  it('see a write only when a read sees it', async () => {
    const store = now();
    const stale: number[] = [];
    await store.watch(ALL, {
      after: 0,
      sink: (events) => {
        const newest = events[events.length - 1]!.entry.revision;
        if (store.revision < newest) stale.push(newest);
      },
    });
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(`/${i}`, bytes(''))));
    expect(stale).toEqual([]);
  });
}

function closing(now: () => Store): void {
  it('keeps accepted writes, ends watches once, refuses everything after', async () => {
    const store = now();
    const watch = await record(store, ALL, 0);
    const accepted = Promise.all(Array.from({ length: 30 }, (_, i) => store.create(`/${i}`, bytes(''))));
    await store.close();
    expect((await accepted).length).toBe(30);
    expect(watch.ends.map((e) => e.code)).toEqual(['closed']);
    expect(watch.events).toHaveLength(30);
    await fails(store.get('/1'), 'closed');
    await fails(store.list(ALL), 'closed');
    await fails(store.create('/x', bytes('')), 'closed');
    await fails(store.update('/1', bytes(''), 1), 'closed');
    await fails(store.delete('/1', 1), 'closed');
    await fails(store.watch(ALL, { after: 0, sink: () => {} }), 'closed');
    await fails(store.compact(1), 'closed');
    await store.close();
  });
}

function restarts(now: () => StoreUnderTest): void {
  it('keep values, revisions, history and compaction', async (context) => {
    const { store, reopen } = now();
    if (reopen === undefined) return context.skip();
    for (let i = 0; i < 30; i++) await store.create(`/k/${i}`, bytes(`v${i}`));
    for (let i = 0; i < 20; i += 2) await store.delete(`/k/${i}`, i + 1);
    for (let i = 1; i < 20; i += 2) await store.update(`/k/${i}`, bytes(`w${i}`), i + 1);
    await store.compact(35);
    const before = await store.list(ALL);
    const old = await store.list(ALL, { revision: 41 });
    const live = await record(store, ALL, 35);
    const again = await reopen();
    expect(again.revision).toBe(50);
    expect(again.compacted).toBe(35);
    expect(plain(await again.list(ALL))).toEqual(plain(before));
    expect(plain(await again.list(ALL, { revision: 41 }))).toEqual(plain(old));
    await fails(again.watch(ALL, { after: 34, sink: () => {} }), 'compacted');
    for (let after = 35; after <= 50; after++) {
      const watch = await record(again, ALL, after);
      expect(watch.seen()).toEqual(live.seen().slice(after - 35));
      watch.stop();
    }
    await again.compact(50);
    expect((await again.create('/k/x', bytes(''))).revision).toBe(51);
    const third = await reopen();
    expect(third.revision).toBe(51);
    expect((await third.list(ALL)).entries).toHaveLength(21);
  });
}

function plain(result: { entries: readonly Entry[] }) {
  return result.entries.map((e) => ({ ...e, value: text(e) }));
}

type Operation =
  | { op: 'create' | 'update' | 'delete'; key: number; stale: boolean }
  | { op: 'compact'; back: number }
  | { op: 'reopen' };

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        op: fc.constantFrom('create', 'update', 'delete'),
        key: fc.nat(5),
        stale: fc.nat(9).map((n) => n === 0),
      }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('compact' as const), back: fc.nat(6) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('reopen' as const) }) },
  ),
  { maxLength: 40, size: 'max' },
);

/** The model: the whole state after each revision, as a map. */
async function againstModel(open: () => Promise<StoreUnderTest>): Promise<void> {
  const property = fc.asyncProperty(operations, async (plan) => {
    const under = await open();
    let { store } = under;
    const states: Map<string, { value: string; revision: number }>[] = [new Map()];
    let compacted = 0;
    try {
      for (const step of plan) {
        const state = states[states.length - 1]!;
        const revision = states.length;
        if (step.op === 'reopen') store = (await under.reopen?.()) ?? store;
        else if (step.op === 'compact') {
          const target = Math.max(0, revision - 1 - step.back);
          await store.compact(target);
          compacted = Math.max(compacted, target);
        } else {
          const key = `/m/${step.key}`;
          const there = state.get(key);
          const expected = step.stale ? 100_000 : (there?.revision ?? 1);
          const attempt =
            step.op === 'create'
              ? store.create(key, bytes(`${revision}`))
              : step.op === 'update'
                ? store.update(key, bytes(`${revision}`), expected)
                : store.delete(key, expected);
          if (step.op === 'create' && there) await fails(attempt, 'exists');
          else if (step.op !== 'create' && !there) await fails(attempt, 'missing');
          else if (step.op !== 'create' && step.stale) await fails(attempt, 'conflict');
          else {
            expect((await attempt).revision).toBe(revision);
            const next = new Map(state);
            if (step.op === 'delete') next.delete(key);
            else next.set(key, { value: `${revision}`, revision });
            states.push(next);
          }
        }
      }
      await compareAll(store, states, compacted);
    } finally {
      await under.dispose();
    }
  });
  await fc.assert(property, { numRuns: 30 });
}

async function compareAll(
  store: Store,
  states: readonly ReadonlyMap<string, { value: string; revision: number }>[],
  compacted: number,
): Promise<void> {
  expect([store.revision, store.compacted]).toEqual([states.length - 1, compacted]);
  for (let revision = 0; revision < states.length; revision++) {
    if (revision < compacted) {
      await fails(store.list(ALL, { revision }), 'compacted');
      continue;
    }
    const state = [...states[revision]!].sort(([a], [b]) => (a < b ? -1 : 1));
    const flat = (entries: readonly Entry[]) =>
      entries.map((e) => [e.key, { value: text(e), revision: e.revision }]);
    expect(flat((await store.list(ALL, { revision })).entries)).toEqual(state);
    const page = await store.list(ALL, { revision, limit: 2 });
    expect([page.more, page.remaining]).toEqual([state.length > 2, Math.max(0, state.length - 2)]);
    const watch = await record(store, ALL, revision);
    const replayed = new Map(states[revision]!);
    for (const { type, entry, previous } of watch.events) {
      expect(text(previous)).toBe(replayed.get(entry.key)?.value);
      if (type === 'delete') replayed.delete(entry.key);
      else replayed.set(entry.key, { value: text(entry)!, revision: entry.revision });
    }
    expect(new Map(replayed)).toEqual(states[states.length - 1]);
    watch.stop();
  }
}
