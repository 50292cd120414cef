import { expect, test } from 'vitest';
import type { Handlers } from '../../../client/cache.ts';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import { heartbeatsAnnotation, heartbeatsText } from '../../../cluster/heartbeats.ts';
import { silentMsOf } from '../../../cluster/silence.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { silentLogger } from '../../../kube/log.ts';
import { runSilence, silenceOf } from '../../../syncer/silence.ts';
import { until } from '../../contract/until.ts';

const at = (ms: number) => new Date(ms).toISOString();
const east = (heard: number, ready: 'True' | 'False'): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  status: {
    lastHeartbeatTime: at(heard),
    conditions: [{ type: 'Ready', status: ready, reason: '', message: '', lastTransitionTime: at(0) }],
  },
});

test('that a cluster lives is no reason to look at it: what is told of it otherwise is', async () => {
  const stop = new AbortController();
  let cluster = east(Date.now(), 'True');
  let looks = 0;
  let told: Handlers<PhysicalCluster> = {};
  const informer = {
    synced: Promise.resolve(),
    get: () => {
      looks++;
      return cluster;
    },
    on: (handlers: Handlers<PhysicalCluster>) => {
      told = handlers;
      handlers.add?.(cluster, 'root//east');
    },
  } as unknown as Informer<PhysicalCluster>;
  const client = new Client(() => Promise.reject(new Error('nothing is written')));
  const nothing = () => undefined;
  const heard = {
    at: nothing,
    now: async () => undefined,
    onLess: nothing,
    onWord: nothing,
    synced: Promise.resolve(),
  };
  const running = runSilence({ client, informer, told: heard, signal: stop.signal, logger: silentLogger });
  const become = (next: PhysicalCluster) => {
    const before = cluster;
    cluster = next;
    told.update?.(next, before, 'root//east');
  };
  await until(() => looks === 1);
  const now = Date.now();
  for (let i = 1; i < 5; i++) become(east(now + i * 1_000, 'True'));
  become(east(now + 5_000, 'False'));
  await until(() => looks === 2);
  // It was heard of less lately than was said: it would be looked at too late.
  become(east(now - 5_000, 'False'));
  await until(() => looks === 3);
  stop.abort();
  await running;
  expect(looks).toBe(3);
});

test('what is said of a cluster with others counts as its own word, until less of it is said', async () => {
  const stop = new AbortController();
  const long = Date.now() - 200_000;
  let heard: number | undefined = Date.now();
  let less: (cluster: string) => void = () => {};
  let looks = 0;
  const informer = {
    synced: Promise.resolve(),
    get: () => {
      looks++;
      return east(long, 'True');
    },
    on: (handlers: Handlers<PhysicalCluster>) => handlers.add?.(east(long, 'True'), 'root//east'),
  } as unknown as Informer<PhysicalCluster>;
  const written: string[] = [];
  const client = new Client(async ({ method, url, body }) => {
    written.push(`${method} ${url} ${Buffer.from(body ?? []).toString()}`);
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(east(long, 'True'))),
    };
  });
  const told = {
    synced: Promise.resolve(),
    at: () => heard,
    onLess: (tell: typeof less) => {
      less = tell;
    },
    onWord: () => undefined,
    now: async () => heard,
  };
  // It has listened for long by then.
  let later = -60_000;
  const now = () => Date.now() + later;
  const running = runSilence({
    client,
    informer,
    told,
    now,
    steady: now,
    signal: stop.signal,
    logger: silentLogger,
  });
  await until(() => looks === 1);
  later = 0;
  const last = Date.now() - 60_000;
  heard = last;
  less('east');
  await until(() => written.length === 1);
  expect(written[0]).toContain('Unknown');
  expect(written[0], 'since when is known').toContain(at(last).replace(/\.\d+/, ''));
  stop.abort();
  await running;
  expect(looks).toBe(2);
});

test('none is silent of which a word is stored that the watch has not told of: nothing on the cluster itself would refuse that', async () => {
  const stop = new AbortController();
  const { signal } = stop;
  const stored = (heard: number) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'one',
      namespace: 'kube-system',
      resourceVersion: '1',
      annotations: { [heartbeatsAnnotation]: heartbeatsText(new Map([['east', heard]])) },
    },
  });
  let heard = Date.now() - 60_000;
  // No word came for as long.
  let passed = 0;
  const steady = () => passed;
  let lists = 0;
  const written: string[] = [];
  const client = new Client(async ({ method, url, signal: soon }) => {
    // The watch is open, and tells nothing.
    if (url.includes('watch=')) await new Promise((_, end) => soon?.addEventListener('abort', end));
    if (method !== 'GET') written.push(method);
    const items = [stored(heard)];
    // Its next word is written as soon as the watch begins.
    if (method === 'GET') {
      lists++;
      heard = Date.now();
    }
    const body = { kind: 'LeaseList', metadata: { resourceVersion: '1' }, items };
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(method === 'GET' ? body : east(heard, 'True'))),
    };
  });
  const informer = {
    synced: Promise.resolve(),
    get: () => {
      passed = 60_000;
      return east(Date.now() - 200_000, 'True');
    },
    on: (handlers: Handlers<PhysicalCluster>) => handlers.add?.(east(0, 'True'), 'root//east'),
  } as unknown as Informer<PhysicalCluster>;
  let asked = 0;
  // It has listened for long.
  const now = () => Date.now() - (asked++ === 0 ? 60_000 : 0);
  const running = runSilence({ client, informer, now, steady, signal, logger: silentLogger });
  await until(() => written.length > 0 || lists === 2);
  stop.abort();
  await running;
  expect(written).toEqual([]);
});

test.each([
  ['was silent before anybody listened', { heard: 0, listened: 39_999 }, { lookAgainAfter: 50 }],
  ['is silent, and could have been heard', { heard: 0, listened: 40_000 }, { condition: expect.anything() }],
  ['was heard', { heard: 90_000, listened: 60_000 }, { lookAgainAfter: 30_000 }],
])('a cluster that %s', (_what, { heard, listened }, verdict) => {
  const now = 100_000;
  const moment = { now, since: now - listened, silentMs: 40_000 };
  expect(silenceOf(east(heard, 'True'), { ...moment, stillMs: 50_000 })).toEqual(verdict);
});

/** One cluster as an informer shows it, how often it was looked at, and what was written of it. */
class Seen {
  looks = 0;
  readonly written: string[] = [];
  #cluster: PhysicalCluster;
  #handlers: Handlers<PhysicalCluster> = {};

  constructor(cluster: PhysicalCluster) {
    this.#cluster = cluster;
  }

  readonly informer: Informer<PhysicalCluster> = {
    synced: Promise.resolve(),
    get: () => {
      this.looks++;
      return this.#cluster;
    },
    on: (handlers: Handlers<PhysicalCluster>) => {
      this.#handlers = handlers;
      handlers.add?.(this.#cluster, 'root//east');
    },
  } as unknown as Informer<PhysicalCluster>;

  readonly client: Client = new Client(async ({ body }) => {
    this.written.push(Buffer.from(body ?? []).toString());
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(this.#cluster)) };
  });

  put(cluster: PhysicalCluster): void {
    const before = this.#cluster;
    this.#cluster = cluster;
    this.#handlers.update?.(cluster, before, 'root//east');
  }
}

test('a word of a time to come counts from when it was seen', async () => {
  const stop = new AbortController();
  const began = Date.now();
  let passed = 0;
  const seen = new Seen(east(began + 3_600_000, 'True'));
  const nothing = () => undefined;
  const told = {
    at: nothing,
    now: async () => undefined,
    onLess: nothing,
    onWord: nothing,
    synced: Promise.resolve(),
  };
  const now = () => began + passed;
  const running = runSilence({
    client: seen.client,
    informer: seen.informer,
    told,
    now,
    steady: now,
    signal: stop.signal,
    logger: silentLogger,
  });
  await until(() => seen.looks === 1);
  passed = 40_000;
  seen.put(east(began + 3_600_000, 'False'));
  await until(() => seen.written.length === 1);
  expect(seen.written[0]).toContain('Unknown');
  expect(seen.written[0], 'since when is told by our own clock').toContain(at(began));
  stop.abort();
  await running;
});

test.each([3_600_000, -3_600_000])('none is silent because a clock was set by %d ms', async (jump) => {
  const stop = new AbortController();
  const began = Date.now();
  let offset = 0;
  let passed = 0;
  const seen = new Seen(east(began, 'True'));
  let word: (cluster: string) => void = () => {};
  let heard = began;
  const told = {
    at: () => heard,
    now: async () => heard,
    onLess: () => undefined,
    onWord: (tell: typeof word) => {
      word = tell;
    },
    synced: Promise.resolve(),
  };
  const running = runSilence({
    client: seen.client,
    informer: seen.informer,
    told,
    now: () => began + passed + offset,
    steady: () => passed,
    signal: stop.signal,
    logger: silentLogger,
  });
  const lookAt = async (ready: 'True' | 'False') => {
    const count = seen.looks;
    seen.put(east(began, ready));
    await until(() => seen.looks > count);
  };
  await until(() => seen.looks === 1);
  passed = 20_000;
  heard = began + passed;
  word('east');
  offset = jump;
  passed = 39_000;
  await lookAt('False');
  passed = 59_000;
  await lookAt('True');
  expect(seen.written).toEqual([]);
  // Nor does that hide that it is: no word came for as long as that takes.
  passed = 20_000 + 40_000;
  await lookAt('False');
  await until(() => seen.written.length === 1);
  expect(seen.written[0]).toContain('Unknown');
  stop.abort();
  await running;
});

test('one that says that it may be silent for longer is taken for silent that much later, and never sooner than any', () => {
  const said = (silentAfterSeconds?: number): PhysicalCluster => {
    const cluster = east(0, 'True');
    return {
      ...cluster,
      status: { ...cluster.status, ...(silentAfterSeconds !== undefined && { silentAfterSeconds }) },
    };
  };
  expect([undefined, 0, 5, 40, 90].map((seconds) => silentMsOf(said(seconds)))).toEqual([
    40_000, 40_000, 40_000, 40_000, 90_000,
  ]);
});

test('one that may no longer be silent for as long is looked at sooner', async () => {
  const stop = new AbortController();
  const start = Date.now();
  let cluster = east(start, 'True');
  cluster = { ...cluster, status: { ...cluster.status, silentAfterSeconds: 90 } };
  let told: Handlers<PhysicalCluster> = {};
  let looks = 0;
  const informer = {
    synced: Promise.resolve(),
    get: () => {
      looks++;
      return cluster;
    },
    on: (handlers: Handlers<PhysicalCluster>) => {
      told = handlers;
      handlers.add?.(cluster, 'root//east');
    },
  } as unknown as Informer<PhysicalCluster>;
  const written: string[] = [];
  const client = new Client(async ({ body }) => {
    written.push(Buffer.from(body ?? []).toString());
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(cluster)) };
  });
  const nothing = () => undefined;
  const heard = { at: nothing, now: async () => undefined, onLess: nothing, onWord: nothing };
  let passed = 0;
  const now = () => start + passed;
  const running = runSilence({
    client,
    informer,
    told: { ...heard, synced: Promise.resolve() },
    now,
    steady: now,
    signal: stop.signal,
    logger: silentLogger,
  });
  await until(() => looks === 1);
  passed = 60_000;
  const become = (silentAfterSeconds: number) => {
    const before = cluster;
    cluster = { ...cluster, status: { ...cluster.status, silentAfterSeconds } };
    told.update?.(cluster, before, 'root//east');
  };
  become(80);
  await until(() => looks === 2);
  expect(written).toEqual([]);
  become(40);
  await until(() => written.length === 1);
  expect(written[0]).toContain('SyncerSilent');
  stop.abort();
  await running;
});
