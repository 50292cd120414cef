import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, deployments, percentile } from '../load.ts';
import {
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  type Stage,
  startStage,
  untilPlacements,
} from './stage.ts';

const changes = 60;
const idleSeconds = 20;

/** What one change of one workload costs beside so many clusters, each with a workload that is not concerned. */
export async function event(): Promise<void> {
  for (const count of (process.env['BENCH_CLUSTERS'] ?? '10,100,1000').split(',').map(Number)) {
    const stage = await startStage({ prefix: 'c', count });
    try {
      const { client } = stage;
      await makeNamespace(client, 'bench');
      const place = (i: number) => ({ 'atoll.dev/clusters': `c-${i}` });
      await createDeployments(client, count, (i) => ({
        name: `app-${i}`,
        namespace: 'bench',
        annotations: place(i),
      }));
      await untilPlacements(client, 'all are settled', { count, seconds: 600, is: isSettled });
      await sleep(5000);
      const idle = await perSecond(stage, () => sleep(idleSeconds * 1000));
      const { latencies, micros } = await changeOften(stage, idle);
      const name = `a change of one workload beside ${count} clusters and workloads`;
      beside(`${name}: until in place, p50 ms`, percentile(latencies, 50).toFixed(0), 'flat');
      beside(`${name}: until in place, p99 ms`, percentile(latencies, 99).toFixed(0), 'flat');
      beside(`${name}: processor ms`, (micros / 1000).toFixed(1), 'flat');
    } finally {
      await stage.stop();
    }
  }
}

async function perSecond(stage: Stage, work: () => Promise<unknown>): Promise<number> {
  const [used, from] = [await stage.processor(), performance.now()];
  await work();
  return ((await stage.processor()) - used) / ((performance.now() - from) / 1000);
}

/** One by one; the processor time is without what the server takes when nobody asks anything. */
async function changeOften(stage: Stage, idle: number): Promise<{ latencies: number[]; micros: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  const kubeconfig = join(folder, 'physical.kubeconfig');
  await writeFile(kubeconfig, stage.clusters.all[0]?.kubeconfig ?? '', { mode: 0o600 });
  const physical = await connect(kubeconfig, 4);
  const stop = new AbortController();
  const latencies: number[] = [];
  let seen: (replicas: number) => void = () => undefined;
  const follow = async () => {
    const { metadata } = await physical.client.list(deployments);
    const options = { resourceVersion: metadata.resourceVersion, signal: stop.signal };
    for await (const { object } of physical.client.watch(deployments, options)) {
      const { spec } = object as { spec?: { replicas?: number } };
      if (object.metadata.name === 'app-0') seen(spec?.replicas ?? 0);
    }
  };
  follow().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  const change = async (replicas: number) => {
    const there = new Promise<void>((resolve) => {
      seen = (now) => now === replicas && resolve();
    });
    const from = performance.now();
    const at = { namespace: 'bench', name: 'app-0' };
    await stage.client.patch(deployments, at, 'merge', { spec: { replicas } });
    await there;
    latencies.push(performance.now() - from);
    // What follows of it, its status, is part of what it costs.
    await sleep(300);
  };
  for (let i = 0; i < 10; i++) await change(100 + i);
  latencies.length = 0;
  const from = performance.now();
  const busy = await perSecond(stage, async () => {
    for (let i = 0; i < changes; i++) await change(2 + i);
  });
  const seconds = (performance.now() - from) / 1000;
  stop.abort();
  physical.close();
  await rm(folder, { recursive: true, force: true });
  return { latencies, micros: ((busy - idle) * seconds * 1e6) / changes };
}
