import { afterEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { heartbeatsAnnotation, heartbeatsText } from '../../../cluster/heartbeats.ts';
import { silentLogger } from '../../../kube/log.ts';
import { Told } from '../../../syncer/told.ts';
import { until } from '../../contract/until.ts';

afterEach(() => vi.useRealTimers());

test('a server whose clock ran ahead, and that is gone, is believed up to when it was heard', async () => {
  const began = Date.parse('2026-11-28T10:00:00Z');
  vi.useFakeTimers({ toFake: ['Date'], now: began });
  const stop = new AbortController();
  const text = heartbeatsText(
    new Map([
      ['east', began + 3_600_000],
      ['west', began - 1_000],
    ]),
  );
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'one',
      namespace: 'kube-system',
      resourceVersion: '1',
      annotations: { [heartbeatsAnnotation]: text },
    },
  };
  const client = new Client(async ({ url, signal }) => {
    if (url.includes('watch=')) await new Promise((_, end) => signal?.addEventListener('abort', end));
    const body = { kind: 'LeaseList', metadata: { resourceVersion: '1' }, items: [lease] };
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    };
  });
  const told = new Told(client, { signal: stop.signal, logger: silentLogger });
  await told.synced;
  vi.setSystemTime(began + 60_000);
  expect([told.at('east'), told.at('west')]).toEqual([began, began - 1_000]);
  expect(await told.now('east'), 'nor anew, as it is stored').toBe(began);
  stop.abort();
});

test('a word is told of whatever time it names, and that nobody says it any more is none', async () => {
  const stop = new AbortController();
  const lease = (version: number, times: [string, number][]) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'one',
      namespace: 'kube-system',
      resourceVersion: String(version),
      annotations: { [heartbeatsAnnotation]: heartbeatsText(new Map(times)) },
    },
  });
  const now = Date.now();
  async function* events() {
    for (const [version, times] of [
      [2, [['east', now]]],
      [3, [['east', now - 3_600_000]]],
      [4, []],
    ] as [number, [string, number][]][])
      yield Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: lease(version, times) })}\n`);
    await new Promise((_, end) => stop.signal.addEventListener('abort', end));
  }
  const client = new Client(async ({ url }) => {
    const list = {
      kind: 'LeaseList',
      metadata: { resourceVersion: '1' },
      items: [lease(1, [['east', now]])],
    };
    const body = url.includes('watch=') ? events() : Buffer.from(JSON.stringify(list));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
  const words: string[] = [];
  const less: string[] = [];
  const told = new Told(client, { signal: stop.signal, logger: silentLogger });
  told.onWord((cluster) => words.push(cluster));
  told.onLess((cluster) => less.push(cluster));
  await until(() => told.at('east') === undefined && less.length > 0 && words.length > 0);
  await until(() => less.length === 2);
  expect(words).toEqual(['east', 'east']);
  stop.abort();
});

test('a word names all clusters of its server, and what it says of one as before is not read again', async () => {
  const stop = new AbortController();
  const now = Date.now();
  const lease = (version: number, times: [string, number][]) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'one',
      namespace: 'kube-system',
      resourceVersion: String(version),
      annotations: { [heartbeatsAnnotation]: heartbeatsText(new Map(times)) },
    },
  });
  async function* events() {
    for (const [version, times] of [
      [
        2,
        [
          ['east', now - 9_000],
          ['west', now - 1_000],
        ],
      ],
      [
        3,
        [
          ['west', now - 1_000],
          ['north', now - 500],
        ],
      ],
    ] as [number, [string, number][]][])
      yield Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: lease(version, times) })}\n`);
    await new Promise((_, end) => stop.signal.addEventListener('abort', end));
  }
  const client = new Client(async ({ url }) => {
    const items = [
      lease(1, [
        ['east', now - 9_000],
        ['west', now - 2_000],
      ]),
    ];
    const list = { kind: 'LeaseList', metadata: { resourceVersion: '1' }, items };
    const body = url.includes('watch=') ? events() : Buffer.from(JSON.stringify(list));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
  const parse = vi.spyOn(Date, 'parse');
  const [words, less]: [string[], string[]] = [[], []];
  const told = new Told(client, { signal: stop.signal, logger: silentLogger });
  told.onWord((cluster) => words.push(cluster));
  told.onLess((cluster) => less.push(cluster));
  await until(() => told.at('north') !== undefined);
  expect(words).toEqual(['east', 'west', 'west', 'north']);
  expect([told.at('east'), told.at('west'), told.at('north')]).toEqual([undefined, now - 1_000, now - 500]);
  expect(less).toEqual(['east']);
  expect(parse).toHaveBeenCalledTimes(words.length);
  parse.mockRestore();
  stop.abort();
});
