/**
 * From the start of a write to each event that tells of it. `node dist/test/bench/watch.js` prints a table: 10,000
 * watchers (BENCH_WATCHERS) of a durable store, of the API server's core in one process, and BENCH_SOCKETS of them
 * (1,000) over TLS of a server of its own. BENCH_SECONDS for each row, default 10. Memory should be as flat as it
 * is with few seconds when there are many.
 */
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiServer } from '../../apiserver/server.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { Transport } from '../../kube/http.ts';
import { openLevel } from '../../storage/level/level.ts';
import { prefixRange } from '../../storage/store.ts';
import { startAtoll } from '../atoll/atoll.ts';
import { percentile } from './measure.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const watchers = Number(process.env['BENCH_WATCHERS'] ?? 10_000);
const sockets = Number(process.env['BENCH_SOCKETS'] ?? 1000);
const MIB = 1 << 20;

/** When each write began, by the name of what it makes. */
type Began = Map<string, number>;

interface Scene {
  name: string;
  /** How many groups of watchers there are; a write matches one of them. */
  groups: number;
  watchers: number;
  perSecond: number;
  watch(group: number, seen: (name: string) => void): Promise<void>;
  write(group: number, name: string): Promise<unknown>;
}

await stores();
await cores();
await servers();

async function stores(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  const store = await openLevel(directory);
  const value = Buffer.alloc(1024, 'x');
  const folder = (group: number) => `/core/configmaps/lc-${group}/default/`;
  const scene = {
    watchers,
    watch: async (group: number, seen: (name: string) => void) => {
      const prefix = folder(group);
      await store.watch(prefixRange(prefix), {
        after: store.revision,
        sink: (events) => {
          for (const { entry } of events) seen(entry.key.slice(prefix.length));
        },
      });
    },
    write: (group: number, name: string) => store.create(folder(group) + name, value),
  };
  await run({ ...scene, name: 'store, 100 match', groups: watchers / 100, perSecond: 100 });
  await store.close();
  for (const [name, groups, perSecond] of [
    ['store, one prefix, all match', 1, 10],
    ['store, different prefixes, 1 matches', watchers, 100],
  ] as const) {
    const fresh = await openLevel(join(directory, name.slice(7, 10)));
    await run({
      ...scene,
      name,
      groups,
      perSecond,
      watch: async (group, seen) => {
        const prefix = folder(group);
        const sink = (events: readonly { entry: { key: string } }[]) => {
          for (const { entry } of events) seen(entry.key.slice(prefix.length));
        };
        await fresh.watch(prefixRange(prefix), { after: fresh.revision, sink });
      },
      write: (group, written) => fresh.create(folder(group) + written, value),
    });
    await fresh.close();
  }
  await rm(directory, { recursive: true });
}

async function cores(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  const store = await openLevel(directory);
  const server = createApiServer({ store, logicalClusters: false, authenticate: [] });
  const transport = server.transport({ name: 'bench', groups: ['system:masters'] });
  const groups = watchers / 100;
  await overApi('API core, 100 match', transport, groups, watchers);
  await server.close();
  await store.close();
  await rm(directory, { recursive: true });
}

async function servers(): Promise<void> {
  const atoll = await startAtoll();
  const transport = await transportFromKubeconfigFile(atoll.kubeconfig, { maxSockets: sockets + 10 });
  try {
    await overApi(`API over TLS, ${sockets / 10} match`, transport, 10, sockets);
  } finally {
    await transport.close();
    await atoll.dispose();
  }
}

async function overApi(name: string, transport: Transport, groups: number, watching: number): Promise<void> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const json = { 'content-type': 'application/json' };
  const post = async (path: string, object: unknown) => {
    const body = Buffer.from(JSON.stringify(object));
    const answer = await transport({ method: 'POST', url: path, headers: json, body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status}`);
  };
  for (let group = 0; group < groups; group++) {
    const metadata = { name: `ns-${group}` };
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  const path = (group: number) => `/api/v1/namespaces/ns-${group}/configmaps`;
  const data = { payload: 'x'.repeat(800) };
  await run({
    name,
    groups,
    watchers: watching,
    perSecond: 100,
    watch: async (group, seen) => {
      const url = `${path(group)}?watch=true`;
      const answer = await transport({ method: 'GET', url, headers: {}, signal: stop.signal });
      if (answer.status !== 200 || answer.body instanceof Uint8Array)
        throw new Error(`watch: ${answer.status}`);
      void read(answer.body, seen).catch(() => {});
    },
    write: (group, written) =>
      post(path(group), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: written }, data }),
  });
  stop.abort();
}

async function read(body: AsyncIterable<Uint8Array>, seen: (name: string) => void): Promise<void> {
  for await (const chunk of body) {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    for (const [, name = ''] of text.matchAll(/"name":"(w-\d+)"/g)) seen(name);
  }
}

async function run(scene: Scene): Promise<void> {
  const began: Began = new Map();
  const latencies: number[] = [];
  const seen = (name: string): void => {
    const start = began.get(name);
    if (start !== undefined) latencies.push(performance.now() - start);
  };
  await Promise.all(Array.from({ length: scene.watchers }, (_, i) => scene.watch(i % scene.groups, seen)));
  await sleep(500);
  const before = process.memoryUsage().rss / MIB;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const writes = seconds * scene.perSecond;
  const pending: Promise<unknown>[] = [];
  const since = performance.now();
  let halfway = 0;
  for (let i = 0; i < writes; i++) {
    await sleep(Math.max(0, since + (i * 1000) / scene.perSecond - performance.now()));
    const name = `w-${i}`;
    began.set(name, performance.now());
    pending.push(scene.write(i % scene.groups, name));
    if (i === Math.floor(writes / 2)) halfway = process.memoryUsage().rss / MIB;
  }
  await Promise.all(pending);
  const expected = (writes * scene.watchers) / scene.groups;
  for (let tries = 0; latencies.length < expected && tries < 100; tries++) await sleep(100);
  delay.disable();
  const at = (p: number) => percentile(latencies, p).toFixed(1);
  const held = `p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)} ms`;
  const rss = [before, halfway, process.memoryUsage().rss / MIB].map((mib) => mib.toFixed(0)).join(', ');
  print(
    `${scene.watchers} watchers, ${scene.name}, ${scene.perSecond} writes/s`,
    `${latencies.length} of ${expected} events`,
    `write to event p50 ${at(50)} ms, p99 ${at(99)} ms, most ${at(100)} ms`,
    `loop ${held}`,
    `RSS ${rss} MiB before, halfway, after`,
  );
}

function print(...cells: string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
