import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';

export const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

export interface Figures {
  perSecond: number;
  p50: number;
  p99: number;
}

/** A client over TLS with as many sockets as there are concurrent callers. */
export async function connect(
  kubeconfig: string,
  sockets: number,
): Promise<{ client: Client; close(): void }> {
  const transport = await transportFromKubeconfigFile(kubeconfig, { maxSockets: sockets });
  return { client: new Client(transport), close: () => transport.close() };
}

/** Runs `work` from `clients` callers at a time for `seconds`; it is told which caller. Latencies in milliseconds. */
export async function measure(
  clients: number,
  seconds: number,
  work: (i: number, caller: number) => Promise<unknown>,
): Promise<Figures> {
  const latencies: number[] = [];
  const end = performance.now() + seconds * 1000;
  let next = 0;
  const caller = async (_: unknown, i: number) => {
    while (performance.now() < end) {
      const started = performance.now();
      await work(next++, i);
      latencies.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, caller));
  const elapsed = (performance.now() - started) / 1000;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}

/** A ConfigMap of about one KiB. */
export function configMap(name: string): KubeObject {
  const data = { payload: 'x'.repeat(800) };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { app: 'bench' } },
    data,
  };
}

export async function fill(client: Client, count: number, prefix: string): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let i = next++; i < count; i = next++) await client.create(configMaps, configMap(`${prefix}-${i}`));
  };
  await Promise.all(Array.from({ length: 64 }, caller));
}
