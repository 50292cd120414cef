import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Versions } from '../../../../apiserver/conversion/versions.ts';
import { watchConverted } from '../../../../apiserver/conversion/watch.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { type Entry, prefixRange, type Store, type WatchOptions } from '../../../../storage/store.ts';
import { eventually } from '../../../eventually.ts';

const range = prefixRange('/w/');
let store: Store;
let waiting: { entries: readonly Entry[]; resolve(): void; reject(error: Error): void }[];
let seen: unknown[];
beforeEach(() => {
  store = openMemory();
  waiting = [];
  seen = [];
});
afterEach(() => store.close());

/** Converts to upper case, once it is let. */
const versions = {
  shared: (entries: readonly Entry[]) => {
    if (entries.length === 0) return Promise.resolve([]);
    return new Promise<Entry[]>((resolve, reject) => {
      const made = entries.map((entry) => ({ ...entry, value: Buffer.from(text(entry).toUpperCase()) }));
      waiting.push({ entries, resolve: () => resolve(made), reject });
    });
  },
} as unknown as Versions;

const text = ({ value }: Entry) => Buffer.from(value).toString();
const put = (name: string) => store.create(`/w/${name}`, Buffer.from(name));

async function watching(): Promise<() => void> {
  const stop = await watchConverted(
    store,
    range,
    {
      after: 0,
      sink: (events) => seen.push(...events.map(({ entry }) => text(entry))),
      onEnd: (reason) => seen.push(reason.message),
      onSynced: (synced) => seen.push(synced),
    },
    versions,
  );
  await eventually(() => expect(seen.at(-1)).toBe(true));
  return stop;
}

test('what happens meanwhile comes after it, and nothing is up to date before', async () => {
  await watching();
  seen = [];
  await put('a');
  await put('b');
  await put('c');
  expect(seen.filter((one) => one !== false)).toEqual([]);
  expect(waiting).toHaveLength(1);
  waiting[0]?.resolve();
  await eventually(() => expect(waiting).toHaveLength(2));
  expect(waiting[1]?.entries.map(text)).toEqual(['b', 'c']);
  expect(seen.filter((one) => one !== false)).toEqual(['A']);
  waiting[1]?.resolve();
  await eventually(() => expect(seen.filter((one) => one !== false)).toEqual(['A', 'B', 'C', true]));
});

test('what cannot be converted ends it, after what came before and before all that comes', async () => {
  await watching();
  await put('a');
  await put('b');
  waiting[0]?.resolve();
  await eventually(() => expect(waiting).toHaveLength(2));
  waiting[1]?.reject(new Error('no way'));
  await eventually(() => expect(seen.at(-1)).toBe('no way'));
  await put('c');
  expect(waiting).toHaveLength(2);
  expect(seen.filter((one) => typeof one === 'string')).toEqual(['A', 'no way']);
});

test('a store that ends it is heard after what it told', async () => {
  await watching();
  await put('a');
  await store.close();
  expect(seen.filter((one) => typeof one === 'string')).toEqual([]);
  waiting[0]?.resolve();
  await eventually(() => expect(seen.filter((one) => typeof one === 'string')).toHaveLength(2));
  expect(seen.filter((one) => typeof one === 'string')[0]).toBe('A');
});

test('whoever stops it hears nothing more', async () => {
  const stop = await watching();
  await put('a');
  stop();
  waiting[0]?.resolve();
  await put('b');
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.filter((one) => typeof one === 'string')).toEqual([]);
});

test('of whoever goes one thing is left to do, however often the store had to wait', async () => {
  const leaving = new AbortController();
  const paused: Promise<void>[] = [];
  const { signal } = leaving;
  const add = vi.spyOn(signal, 'addEventListener');
  const fake = {
    watch: async (_: unknown, { sink, pause }: WatchOptions) => {
      const entry = { key: '/w/a', value: Buffer.from('a'), revision: 1, created: 1 };
      for (let round = 0; round < 5; round++) {
        sink(Array.from({ length: 400 }, () => ({ type: 'put' as const, entry })));
        paused.push(pause?.() ?? Promise.resolve());
        for (let batch = 0; batch < 4; batch++) {
          await eventually(() => expect(waiting).toHaveLength(1));
          if (round < 4) waiting.shift()?.resolve();
          else break;
        }
      }
      return () => {};
    },
  } as unknown as Store;
  await watchConverted(fake, range, { after: 0, sink: () => {}, signal }, versions);
  expect(add.mock.calls.map(([type]) => type)).toEqual(['abort']);
  const [last] = paused.slice(-1);
  leaving.abort();
  await last;
});
