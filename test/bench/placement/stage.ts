import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { registerCluster } from '../../../cli/cluster.ts';
import type { Client } from '../../../client/client.ts';
import { readyOf } from '../../../cluster/life.ts';
import { physicalClusters, placements } from '../../../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type Atoll, bundled, startAtoll } from '../../atoll/atoll.ts';
import { connect, deployments } from '../load.ts';
import { pidsOf, processorSeconds } from '../peers.ts';
import { print } from '../table.ts';
import { type Clusters, startClusters } from './clusters.ts';
import type { Order } from './messages.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/** The server as it is installed, and physical clusters that are Ready there. */
export interface Stage {
  atoll: Atoll;
  client: Client;
  clusters: Clusters;
  /** Seconds of processor time of all processes of the server, until now. */
  processor(): Promise<number>;
  /** Bytes of its store on disk. */
  stored(): Promise<number>;
  stop(): Promise<void>;
}

/** `labels`: of the i-th cluster. */
export async function startStage(
  order: Order,
  { labels, settleSeconds = 0 }: { labels?(i: number): Record<string, string>; settleSeconds?: number } = {},
): Promise<Stage> {
  const clusters = await startClusters(order);
  const atoll = await startAtoll({ program: bundled, settleSeconds });
  const { client, close } = await connect(atoll.kubeconfig, 32);
  const stop = async () => {
    close();
    for (const line of seldom(atoll.log())) process.stderr.write(`${line}\n`);
    await atoll.dispose();
    clusters.stop();
  };
  const pids = () => pidsOf(atoll);
  try {
    await inParallel(8, clusters.all.length, async (i) => {
      const { name, kubeconfig } = clusters.all[i] as (typeof clusters.all)[number];
      await registerCluster(client, name, kubeconfig, { labels: labels?.(i) ?? {} });
    });
    await untilReady(client, clusters.all.length);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    atoll,
    client,
    clusters,
    processor: () => processorSeconds({ name: 'atoll', kubeconfig: atoll.kubeconfig, pids }),
    stored: () => sizeOf(join(atoll.dataDir, 'store')),
    stop,
  };
}

/** What the server has warned of, each message with how often it did, and its last line. */
function seldom(log: string): string[] {
  const counts = new Map<string, { times: number; last: string }>();
  for (const line of log.split('\n').filter((one) => /"level":"(warn|error)"/.test(one))) {
    const { msg } = JSON.parse(line) as { msg: string };
    counts.set(msg, { times: (counts.get(msg)?.times ?? 0) + 1, last: line });
  }
  return [...counts.values()].map(({ times, last }) => `${times} times: ${last.slice(0, 400)}`);
}

async function untilReady(client: Client, count: number): Promise<void> {
  await until(`${count} clusters are Ready`, 600, 1000, async () => {
    const { items } = await client.list<PhysicalCluster>(physicalClusters);
    const ready = items.filter((cluster) => readyOf(cluster)?.status === 'True').length;
    return { done: ready === count, seen: `${ready} are` };
  });
}

/** A Namespace whose workloads are on these clusters; on none by a word of ours where there is none. */
export async function makeNamespace(client: Client, name: string, on?: string): Promise<void> {
  const metadata = { name, ...(on && { annotations: { 'atoll.dev/clusters': on } }) };
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** Until so many Placements of Deployments are as `is` says; asks seldom, since its own list is work for the server. */
export async function untilPlacements(
  client: Client,
  what: string,
  {
    count,
    seconds,
    everyMs = 2000,
    is,
  }: {
    count: number;
    seconds: number;
    everyMs?: number;
    is(placement: Placement): boolean;
  },
): Promise<void> {
  await until(what, seconds, everyMs, async () => {
    const found = await allPlacements(client);
    const seen = found.filter(is).length;
    return { done: seen >= count, seen: `${seen} of ${found.length}` };
  });
}

export async function allPlacements(client: Client): Promise<Placement[]> {
  const { items } = await client.list<Placement>(placements);
  return items.filter(({ spec }) => spec?.ref.resource === 'deployments');
}

/** Where it should be, and nowhere else. */
export function isSettled({ status }: Placement): boolean {
  const is = (type: string) => status?.conditions?.some((c) => c.type === type && c.status === 'True');
  return is('Placed') === true && is('Settled') === true;
}

export async function createDeployments(
  client: Client,
  count: number,
  of: (i: number) => {
    name: string;
    namespace: string;
    replicas?: number;
    annotations?: Record<string, string>;
  },
): Promise<void> {
  await inParallel(16, count, (i) => client.create(deployments, deployment(of(i))));
}

function deployment(of: {
  name: string;
  namespace: string;
  replicas?: number;
  annotations?: Record<string, string>;
}): KubeObject {
  const { name, namespace, replicas = 1, annotations = {} } = of;
  const labels = { app: name };
  const container = { name: 'main', image: 'registry.example/bench:1' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels, annotations },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

export async function until(
  what: string,
  seconds: number,
  everyMs: number,
  look: () => Promise<{ done: boolean; seen: string }>,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const { done, seen } = await look();
    if (done) return;
    if (process.env['BENCH_TELL']) process.stderr.write(`${what}: ${seen}\n`);
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}; ${seen}`);
    await sleep(everyMs);
  }
}

export async function inParallel(
  callers: number,
  count: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** A figure beside its goal, and how busy the machine was, which has two processors. */
export function beside(figure: string, value: string, goal: string): void {
  print([figure, value, `goal: ${goal}`, `load ${loadavg()[0]?.toFixed(1)}`]);
}

/** A number of how many, smaller for a trial: `BENCH_SCALE=0.1`. */
export function scaled(count: number): number {
  return Math.max(1, Math.round(count * Number(process.env['BENCH_SCALE'] ?? 1)));
}

const run = promisify(execFile);

async function sizeOf(folder: string): Promise<number> {
  // Files come and go while it is read.
  const { stdout } = await run('sh', ['-c', 'du -sb "$0" 2>/dev/null || du -sb "$0"', folder]);
  return Number(stdout.split('\t')[0]);
}
