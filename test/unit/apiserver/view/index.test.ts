import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Shares } from '../../../../apiserver/view/shares.ts';
import type { ShareView } from '../../../../cluster/types.ts';
import type { WatchEvent } from '../../../../kube/object.ts';
import { StoreError, type WatchOptions } from '../../../../storage/store.ts';
import { until } from '../../../world/objects.ts';
import { active, configMap, keys, logical, namespace, placementKey, Upstream } from './upstream.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const names = Array.from({ length: 20 }, (_, i) => `c${i}`);

let upstream: Upstream;
let life: AbortController;
/** The store's watches over all keys: those that nobody has stopped, and how many there were. */
let whole: Set<WatchOptions>;
let begun: number;
beforeEach(async () => {
  upstream = await Upstream.make('west', ...names);
  life = new AbortController();
  setMaxListeners(0, life.signal);
  whole = new Set();
  begun = 0;
  const { store } = upstream;
  const watch = store.watch.bind(store);
  vi.spyOn(store, 'watch').mockImplementation(async (range, options) => {
    if (range.start === '/' && range.end === '0') {
      begun += 1;
      whole.add(options);
      options.signal?.addEventListener('abort', () => whole.delete(options));
    }
    const stop = await watch(range, options);
    return () => {
      whole.delete(options);
      stop();
    };
  });
});
afterEach(() => {
  life.abort();
  vi.restoreAllMocks();
});

interface View {
  name: string;
  events: WatchEvent<ShareView>[];
  /** How the watch ended. */
  ended: Promise<unknown>;
}

async function follow(name: string, from?: string): Promise<View> {
  const client = upstream.client(name);
  const resourceVersion = from ?? (await client.list(shares)).metadata.resourceVersion!;
  const events: WatchEvent<ShareView>[] = [];
  const ended = (async () => {
    for await (const event of client.watch<ShareView>(shares, { resourceVersion, signal: life.signal })) {
      events.push(event);
    }
  })().catch((error: unknown) => error);
  return { name, events, ended };
}

const told = (view: View) => view.events.map(({ type, object }) => `${type} ${object.spec!.ref.name}`);
/** That of the index: the views have read what they needed of history. */
const oneWatch = (views: number) =>
  until('one watch over all keys', () => begun === views + 1 && whole.size === 1);

test("a view that is idle does nothing for other clusters' placements and their objects", async () => {
  const views = await Promise.all(names.map((name) => follow(name)));
  await oneWatch(views.length);
  const fed = vi.spyOn(Shares.prototype, 'feed');
  for (let i = 0; i < 50; i += 1) {
    const [config, ref] = configMap(`west-${i}`);
    await upstream.place(config, ref, { west: active });
    await upstream.write(keys.object(ref, logical, namespace), { ...config, data: { changed: 'yes' } });
  }
  const [config, ref] = configMap('mine');
  await upstream.place(config, ref, { west: active, c7: active });
  const mine = views[7]!;
  await until('the share', () => mine.events.length === 1);
  expect(fed).toHaveBeenCalledTimes(1);
  // An object that a placement names, for those only whom the placement names.
  await upstream.write(keys.object(ref, logical, namespace), { ...config, data: { changed: 'yes' } });
  await upstream.shares(ref, { c8: active });
  await until('both', () => mine.events.length === 3 && views[8]!.events.length === 1);
  expect(fed).toHaveBeenCalledTimes(4);
  expect(told(mine)).toEqual(['ADDED mine', 'MODIFIED mine', 'DELETED mine']);
  expect(told(views[8]!)).toEqual(['ADDED mine']);
  expect(views.filter(({ events }) => events.length > 0)).toEqual([mine, views[8]]);
});

test('what a cluster had when it last looked, and has no more, is told', async () => {
  await follow('c0');
  await oneWatch(1);
  const [config, ref] = configMap('settings');
  await upstream.place(config, ref, { c1: active });
  const client = upstream.client('c1');
  const before = (await client.list<ShareView>(shares)).metadata.resourceVersion!;
  const list = vi.spyOn(upstream.store, 'list');
  await upstream.shares(ref, { west: active });
  const view = await follow('c1', before);
  await until('the end of it', () => view.events.length > 0);
  expect(told(view)).toEqual(['DELETED settings']);
  expect((await client.list(shares)).items).toEqual([]);
  // All of it known from the index.
  expect(list).not.toHaveBeenCalled();
});

test('where the index cannot go on, watches end, and are taken up again without a gap', async () => {
  const first = await follow('c0');
  await oneWatch(1);
  const [index] = whole;
  const [config, ref] = configMap('settings');
  await upstream.place(config, ref, { c0: active });
  await until('the share', () => first.events.length === 1);
  const seen = first.events[0]!.object.metadata.resourceVersion!;
  index!.onEnd?.(new StoreError('compacted', 'too slow'));
  expect(await first.ended).toMatchObject({ code: 410 });
  await upstream.remove(placementKey(ref));
  const second = await follow('c0', seen);
  await upstream.place(config, ref, { c0: active });
  await until('both', () => second.events.length === 2);
  expect(told(second)).toEqual(['DELETED settings', 'ADDED settings']);
});

test('a watch from where a cluster was listed reads nothing of what was listed, and tells what any other does', async () => {
  const [root, ref] = configMap('settings');
  await upstream.place(root, ref, { west: active });
  const read = vi.spyOn(upstream.store, 'get');
  const placements = () => read.mock.calls.filter(([key]) => key === placementKey(ref)).length;
  const resourceVersion = (await upstream.client('west').list(shares)).metadata.resourceVersion!;
  expect(placements()).toBe(1);
  const views = [await follow('west', resourceVersion), await follow('west', resourceVersion)];
  // Nobody but a list, or a watch that begins anew, reads it by its name.
  await until('the second watch', () => placements() > 1);
  await upstream.write(keys.object(ref, logical, namespace), { ...root, data: { a: 'c' } } as typeof root);
  await until('both are told', () => views.every(({ events }) => events.length > 0));
  for (const { events } of views) {
    expect(events.map(({ type }) => type)).toEqual(['MODIFIED']);
    expect(events[0]?.object.spec?.manifest).toMatchObject({ data: { a: 'c' } });
  }
  expect(placements()).toBe(2);
});
