import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { InformerSet } from '../../../client/informers.ts';
import { SharedInformers } from '../../../client/shared-informers.ts';
import { newSlice } from '../../../cluster/slices.ts';
import type { ApiRequest, Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { eventually } from '../../eventually.ts';

const maps = { group: '', version: 'v1', resource: 'configmaps' };
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const byColour = 'colour';
const colourOf = ({ metadata }: KubeObject) => [metadata.labels?.['colour'] ?? 'none'];

function object(cluster: string, name: string, revision: number, colour = 'red'): KubeObject {
  const annotations = { 'kcp.io/cluster': cluster };
  const metadata = { name, namespace: 'x', uid: `${cluster}-${name}`, annotations, labels: { colour } };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, resourceVersion: String(revision) },
  };
}

/** A server of two kinds: lists what there is, and tells who watches what is said of them. */
class Served {
  revision = 10;
  objects: KubeObject[] = [object('a', 'one', 1), object('b', 'one', 2), object('b', 'two', 3, 'blue')];
  asked: string[] = [];
  /** Cannot be listed. */
  broken = '';
  progressed = 0;
  readonly watches = new Set<{ path: string; tell(event: object): void }>();

  readonly transport: Transport = async (request: ApiRequest) => {
    const url = new URL(request.url, 'http://x');
    const isWatch = url.searchParams.has('watch');
    this.asked.push(`${isWatch ? 'watch' : 'list'} ${url.pathname}`);
    if (!isWatch && this.broken !== '' && url.pathname.endsWith(this.broken)) throw new Error('broken');
    if (isWatch) return { status: 200, headers: {}, body: this.#watch(url.pathname, request.signal) };
    const items = /configmaps$|placements$/.test(url.pathname) ? this.objects : [];
    const metadata = { resourceVersion: String(this.revision) };
    const body = { kind: 'List', apiVersion: 'v1', metadata, items };
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  };

  tell(type: string, told: KubeObject): void {
    for (const watch of this.watches)
      if (watch.path.endsWith('configmaps')) watch.tell({ type, object: told });
  }

  progress(): void {
    this.progressed++;
    const metadata = { resourceVersion: String(this.revision) };
    for (const watch of this.watches)
      watch.tell({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata } });
  }

  async *#watch(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const waiting: object[] = [];
    let wake = () => {};
    const tell = (event: object) => {
      waiting.push(event);
      wake();
    };
    const watch = { path, tell };
    this.watches.add(watch);
    const end = () => wake();
    signal?.addEventListener('abort', end);
    try {
      while (!signal?.aborted) {
        for (const event of waiting.splice(0)) yield Buffer.from(`${JSON.stringify(event)}\n`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0 || signal?.aborted) resolve();
        });
      }
    } finally {
      this.watches.delete(watch);
      signal?.removeEventListener('abort', end);
    }
  }
}

let served: Served;
let all: SharedInformers;
let ends: AbortController[];
beforeEach(() => {
  served = new Served();
  ends = [];
  const client = new Client(served.transport, { cluster: '*' });
  all = new SharedInformers(client, { askProgress: () => served.progress() });
});
afterEach(() => {
  for (const end of ends) end.abort();
});

function face(cluster?: string, since = 0): { informers: InformerSet; end: () => void } {
  const end = new AbortController();
  ends.push(end);
  const { signal } = end;
  const includes = cluster === undefined ? {} : { includes: (other: string) => other === cluster };
  return { informers: all.face({ signal, since, ...includes }), end: () => end.abort(new Error('ended')) };
}

function heard(informer: Informer): string[] {
  const log: string[] = [];
  informer.on({
    add: (_, key) => log.push(`add ${key}`),
    update: (now, old, key) =>
      log.push(`update ${key} ${old.metadata.resourceVersion}-${now.metadata.resourceVersion}`),
    delete: (_, key) => log.push(`delete ${key}`),
  });
  return log;
}

const names = (objects: Iterable<KubeObject>) =>
  [...objects].map((one) => `${one.metadata.annotations?.['kcp.io/cluster']}/${one.metadata.name}`);

describe('of several who look at one watch', () => {
  test('each is shown and told what concerns it, and gets whatever it names', async () => {
    const [a, b, both] = [face('a'), face('b'), face()].map(({ informers }) => informers.for(maps));
    if (!a || !b || !both) throw new Error('no faces');
    const logs = [a, b, both].map(heard);
    await Promise.all([a.synced, b.synced, both.synced]);
    for (const one of [a, b, both]) one.addIndex(byColour, colourOf);
    expect([a, b, both].map((one) => names(one.list()))).toEqual([
      ['a/one'],
      ['b/one', 'b/two'],
      ['a/one', 'b/one', 'b/two'],
    ]);
    expect([names(b.values()), [...b.keys()], b.size]).toEqual([
      ['b/one', 'b/two'],
      ['b/x/one', 'b/x/two'],
      2,
    ]);
    expect([a, b, both].map((one) => names(one.byIndex(byColour, 'red')))).toEqual([
      ['a/one'],
      ['b/one'],
      ['a/one', 'b/one'],
    ]);
    expect([a, b, both].map((one) => one.hasIndexed(byColour, 'blue'))).toEqual([false, true, true]);
    expect(a.get('b/x/two')?.metadata.name).toBe('two');
    served.tell('MODIFIED', object('b', 'two', 11, 'red'));
    served.tell('DELETED', object('a', 'one', 12));
    await eventually(() => expect(logs[2]).toHaveLength(5));
    expect(logs).toEqual([
      ['add a/x/one', 'delete a/x/one'],
      ['add b/x/one', 'add b/x/two', 'update b/x/two 3-11'],
      ['add a/x/one', 'add b/x/one', 'add b/x/two', 'update b/x/two 3-11', 'delete a/x/one'],
    ]);
    expect(names(b.byIndex(byColour, 'red')).sort()).toEqual(['b/one', 'b/two']);
    expect(served.asked.filter((one) => one.startsWith('watch'))).toHaveLength(1);
  });

  test('what is asked for everywhere, or of one logical cluster, is whole for each', async () => {
    const { informers } = face('a');
    const everywhere = informers.for(maps, { everywhere: true });
    await everywhere.synced;
    expect(names(everywhere.list())).toEqual(['a/one', 'b/one', 'b/two']);
    expect(names(informers.for(maps).list())).toEqual(['a/one']);
    const ofRoot = informers.for(secrets, { cluster: 'root' });
    expect(informers.for(secrets, { cluster: 'root' })).toBe(ofRoot);
    await ofRoot.synced;
    expect(served.asked.filter((one) => one.endsWith('secrets'))[0]).toBe(
      'list /clusters/root/api/v1/secrets',
    );
  });

  test('one that begins later is told what there is, and is synced once it has all that was written before', async () => {
    const first = face('a').informers.for(maps);
    await first.synced;
    served.revision = 20;
    const late = face('b', 20).informers.for(maps);
    const log = heard(late);
    expect(log).toEqual(['add b/x/one', 'add b/x/two']);
    expect(late.hasSynced).toBe(false);
    await late.synced;
    expect(late.hasSynced).toBe(true);
    served.revision = 15;
    const later = face('b', 30).informers.for(maps);
    let isSynced = false;
    void later.synced.then(() => {
      isSynced = true;
    });
    served.tell('ADDED', object('b', 'three', 29));
    await eventually(() => expect(log).toContain('add b/x/three'));
    expect(isSynced).toBe(false);
    served.revision = 30;
    await later.synced;
  });

  test('what one waits for that has not come is said, and no more once it has', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const warned: object[] = [];
      const client = new Client(served.transport, { cluster: '*' });
      const warn = (fields: object) => warned.push(fields);
      all = new SharedInformers(client, { askProgress: () => {}, logger: { ...silentLogger, warn } });
      const waiting = face('a', 20).informers.for(maps);
      await eventually(() => expect(served.watches.size).toBe(1));
      vi.advanceTimersByTime(60_000);
      expect(warned).toEqual([
        { resource: maps, revision: 20 },
        { resource: maps, revision: 20 },
      ]);
      served.revision = 20;
      served.progress();
      await waiting.synced;
      vi.advanceTimersByTime(60_000);
      expect(warned).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('nothing is left of one that ended, and no watch once all have', async () => {
    const [one, other] = [face('a'), face('b')];
    const [a, b] = [one.informers.for(maps), other.informers.for(maps)];
    const log = heard(a);
    const borrowed = one.informers.borrow(secrets, (object) => object);
    await Promise.all([a.synced, b.synced, borrowed.informer.synced]);
    a.addIndex(byColour, colourOf);
    a.addIndex('own', colourOf);
    b.addIndex(byColour, colourOf);
    const endless = face('a', Number.MAX_SAFE_INTEGER);
    const never = endless.informers.for(maps).synced;
    await eventually(() => expect(served.watches.size).toBe(2));
    endless.end();
    await expect(never).rejects.toThrow('ended');
    one.end();
    const before = log.length;
    expect(b.byIndex(byColour, 'blue')).toHaveLength(1);
    expect(() => b.byIndex('own', 'blue')).toThrow('no index');
    expect(heard(a)).toEqual([]);
    const told = heard(b);
    served.tell('ADDED', object('a', 'new', 11));
    served.tell('ADDED', object('b', 'new', 12));
    await eventually(() => expect(told).toContain('add b/x/new'));
    expect(log).toHaveLength(before);
    await eventually(() => expect([...served.watches].map(({ path }) => path)).toHaveLength(1));
    other.end();
    await eventually(() => expect(served.watches.size).toBe(0));
    // Who comes then begins anew.
    const again = face('b').informers.for(maps);
    await again.synced;
    expect(
      served.asked.filter((path) => path.startsWith('list') && path.endsWith('configmaps')),
    ).toHaveLength(2);
  });

  test('a term ends though a list of it never came, while another goes on', async () => {
    served.broken = 'secrets';
    const [one, other] = [face('a'), face('b')];
    const synced = one.informers.for(secrets).synced;
    const ofOther = other.informers.for(secrets);
    await eventually(() => expect(served.asked).not.toEqual([]));
    one.end();
    await expect(synced).rejects.toThrow('ended');
    served.broken = '';
    await ofOther.synced;
  });

  test('what is given back waits for nothing any more', async () => {
    const all = face('a');
    await all.informers.for(maps).synced;
    const late = face('b', 30);
    const borrowed = late.informers.borrow(secrets, (object) => object);
    const waiting = late.informers.borrow(maps, (object) => object);
    await eventually(() => expect(served.progressed).toBeGreaterThan(1));
    for (const one of [borrowed, waiting]) {
      one.release();
      await expect(one.informer.synced).rejects.toThrow();
    }
    const before = served.progressed;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(served.progressed).toBe(before);
  });

  test('what several borrow is watched once, until the last gives it back; everybody’s is lent where it is', async () => {
    const [one, other] = [face('a'), face('b')];
    const less = ({ apiVersion, kind, metadata }: KubeObject) => ({ apiVersion, kind, metadata });
    const lent = [one, other].map(({ informers }) => informers.borrow(maps, less));
    await Promise.all(lent.map(({ informer }) => informer.synced));
    expect(lent.map(({ informer }) => names(informer.list()))).toEqual([['a/one'], ['b/one', 'b/two']]);
    await eventually(() => expect(served.watches.size).toBe(1));
    lent[0]?.release();
    lent[0]?.release();
    expect(served.watches.size).toBe(1);
    lent[1]?.release();
    await eventually(() => expect(served.watches.size).toBe(0));
    await one.informers.for(maps).synced;
    await other.informers.borrow(maps, less).informer.synced;
    await eventually(() => expect(served.watches.size).toBe(1));
    expect(served.asked.filter((path) => path.startsWith('list'))).toHaveLength(2);
  });
});

describe('of Placements', () => {
  const placementOf = (cluster: string, uid: string) => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { ...object(cluster, 'web', 4).metadata, uid },
  });
  const sliceOf = (cluster: string, uid: string, revision = 5) => {
    const slice = newSlice(placementOf(cluster, uid), 'east', { present: true });
    return {
      ...slice,
      metadata: { ...slice.metadata, ...object(cluster, slice.metadata.name ?? '', revision).metadata },
    };
  };

  test('a term knows what is said of those that concern it, and hears of what is said of none, until it ends', async () => {
    served.objects = [
      placementOf('a', 'now'),
      sliceOf('a', 'now'),
      placementOf('b', 'now'),
      sliceOf('b', 'former'),
      sliceOf('c', 'former'),
    ];
    const [a, b] = [face('a'), face('b')];
    const [ofA, ofB] = [a.informers.placements(), b.informers.placements()];
    await Promise.all([ofA.synced, ofB.synced]);
    expect(ofA.list().map(({ status }) => status?.clusters)).toEqual([{ east: { present: true } }]);
    expect([...ofA.said('a/x/web').keys()]).toEqual(['east']);
    const strays: string[] = [];
    ofA.onStray((key) => strays.push(`a ${key}`));
    ofB.onStray((key) => strays.push(`b ${key}`));
    expect(strays).toEqual(['b b/x/web']);
    for (const watching of served.watches)
      watching.tell({ type: 'ADDED', object: sliceOf('a', 'former', 6) });
    await eventually(() => expect(strays).toEqual(['b b/x/web', 'a a/x/web']));
    a.end();
    ofA.onStray((key) => strays.push(`late ${key}`));
    for (const watching of served.watches) {
      watching.tell({ type: 'DELETED', object: placementOf('a', 'now') });
      watching.tell({ type: 'DELETED', object: placementOf('b', 'now') });
    }
    await eventually(() => expect(strays).toHaveLength(3));
    expect(strays.at(-1)).toBe('b b/x/web');
    b.end();
  });
});
