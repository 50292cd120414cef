import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../kube/object.ts';
import { connect, percentile } from './load.ts';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

export interface Arrivals {
  /** From the acknowledgement to the physical API, milliseconds. */
  p50: number;
  p99: number;
  /** From the first create to the last arrival. */
  seconds: number;
}

/**
 * Creates `count` Deployments of no replicas, so many a second, or as fast as ten clients can, and watches them arrive. `count` is
 * part of their names. They go into the Namespaces in turn.
 */
export async function measureApplyToPresent(
  logical: string,
  physical: string,
  {
    count,
    perSecond,
    namespaces = ['default'],
  }: { count: number; perSecond?: number; namespaces?: readonly string[] },
): Promise<Arrivals> {
  const [up, down] = [await connect(logical, 16), await connect(physical, 4)];
  const acknowledged = new Map<string, number>();
  const latencies: number[] = [];
  const stop = new AbortController();
  const labelSelector = 'atoll.dev/managed-by';
  // Before the first create: the list of what came earlier is no part of what is measured.
  const { metadata } = await down.client.list(deployments, { labelSelector });
  const arrived = new Promise<void>((resolve, reject) => {
    const follow = async () => {
      const options = { labelSelector, resourceVersion: metadata.resourceVersion, signal: stop.signal };
      for await (const event of down.client.watch(deployments, options)) {
        if (event.type !== 'ADDED') continue;
        const started = acknowledged.get(event.object.metadata.name ?? '');
        if (started !== undefined) latencies.push(Math.max(0, performance.now() - started));
        if (latencies.length === count) return resolve();
      }
      reject(new Error(`the watch ended after ${latencies.length} of ${count} arrivals`));
    };
    follow().catch(reject);
  });
  const run = `bench-${count}`;
  const since = performance.now();
  let next = 0;
  const caller = async () => {
    for (let i = next++; i < count; i = next++) {
      if (perSecond !== undefined)
        await sleep(Math.max(0, since + (i * 1000) / perSecond - performance.now()));
      const name = `${run}-${i}`;
      // Set before, so that an arrival that overtakes the acknowledgement still counts, as 0.
      acknowledged.set(name, performance.now());
      await up.client.create(deployments, deployment(name, namespaces[i % namespaces.length] ?? ''));
      acknowledged.set(name, performance.now());
    }
  };
  await Promise.all([...Array.from({ length: 10 }, caller)]);
  await Promise.race([arrived, timeout(300_000)]);
  const seconds = (performance.now() - since) / 1000;
  stop.abort();
  up.close();
  down.close();
  return { p50: percentile(latencies, 50), p99: percentile(latencies, 99), seconds };
}

function deployment(name: string, namespace: string): KubeObject {
  const labels = { app: name };
  const container = { name: 'main', image: 'registry.example/bench:1' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

function timeout(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`not all arrived within ${ms} ms`)), ms).unref();
  });
}
