import type { KubeObject } from '../../kube/object.ts';
import { connect, percentile } from './load.ts';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

/** Creates `count` Deployments of no replicas, ten at a time, and watches them arrive; milliseconds. */
export async function measureApplyToPresent(
  logical: string,
  physical: string,
  count: number,
): Promise<{ p50: number; p99: number }> {
  const [up, down] = [await connect(logical, 16), await connect(physical, 4)];
  const acknowledged = new Map<string, number>();
  const latencies: number[] = [];
  const stop = new AbortController();
  const arrived = new Promise<void>((resolve, reject) => {
    const follow = async () => {
      const labelSelector = 'atoll.dev/managed-by';
      const { metadata } = await down.client.list(deployments, { labelSelector });
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
  let next = 0;
  const caller = async () => {
    for (let i = next++; i < count; i = next++) {
      const name = `bench-${i}`;
      // Set before, so that an arrival that overtakes the acknowledgement still counts, as 0.
      acknowledged.set(name, performance.now());
      await up.client.create(deployments, deployment(name));
      acknowledged.set(name, performance.now());
    }
  };
  await Promise.all([...Array.from({ length: 10 }, caller)]);
  await Promise.race([arrived, timeout(300_000)]);
  stop.abort();
  up.close();
  down.close();
  return { p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
}

function deployment(name: string): KubeObject {
  const labels = { app: name };
  const container = { name: 'main', image: 'registry.example/bench:1' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels },
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
