import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { configMap, configMaps, connect, percentile } from './load.ts';

export interface Burst {
  /** Of another client's creates, milliseconds: while nothing else happens, and until all that was applied runs. */
  idle: Latencies;
  during: Latencies;
  /** Connections that were refused or not answered within ten seconds, of as many as were opened. */
  refused: number;
  opened: number;
  /** Until the last apply was acknowledged, and until the last Deployment was available. */
  appliedSeconds: number;
  runningSeconds: number;
}

export interface Latencies {
  p50: number;
  p99: number;
  max: number;
}

/** Which nobody has placed: what is created there stays here. */
const elsewhere = 'elsewhere';
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const everyMs = 20;
const limitMs = 10_000;

/** `count` Deployments of a replica each, applied by ten clients at once, while another creates 50 ConfigMaps a second. */
export async function measureBurst(kubeconfig: string, count: number): Promise<Burst> {
  const [crowd, other] = [await connect(kubeconfig, 10), await connect(kubeconfig, 32)];
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } };
  await other.client.create(namespaces, namespace);
  // A server that has just started compiles what it runs, and a demo has its app to start: else idle would not be idle.
  await new Probe(other.client, 'first').during(() => sleep(15_000));
  const idle = await new Probe(other.client, 'idle').during(() => sleep(5000));
  const began = performance.now();
  let appliedSeconds = 0;
  const doors = new Doors(kubeconfig);
  const knocking = doors.knock();
  const during = await new Probe(other.client, 'burst').during(async () => {
    await inParallel(10, count, (i) => crowd.client.create(deployments, deployment(`burst-${i}`)));
    appliedSeconds = (performance.now() - began) / 1000;
    await untilAvailable(crowd.client, count);
  });
  const runningSeconds = (performance.now() - began) / 1000;
  doors.stop();
  await knocking;
  crowd.close();
  other.close();
  const { refused, opened } = doors;
  return { idle, during, refused, opened, appliedSeconds, runningSeconds };
}

/** Creates at a fixed rate, whether the earlier ones were answered or not: a slow server cannot make it ask less. */
class Probe {
  readonly #client: Client;
  readonly #prefix: string;
  readonly #latencies: number[] = [];

  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  async during(work: () => Promise<unknown>): Promise<Latencies> {
    let done = false;
    const working = work().finally(() => {
      done = true;
    });
    const since = performance.now();
    const pending: Promise<void>[] = [];
    for (let i = 0; !done; i++) {
      const due = since + i * everyMs;
      await sleep(Math.max(0, due - performance.now()));
      pending.push(this.#create(i, due));
    }
    await Promise.all([working, ...pending]);
    const of = this.#latencies;
    return { p50: percentile(of, 50), p99: percentile(of, 99), max: Math.max(...of) };
  }

  async #create(i: number, due: number): Promise<void> {
    await this.#client.create(configMaps, configMap(`${this.#prefix}-${i}`, elsewhere));
    this.#latencies.push(performance.now() - due);
  }
}

/** One new connection each second. */
class Doors {
  opened = 0;
  refused = 0;
  readonly #kubeconfig: string;
  readonly #stop = new AbortController();

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  async knock(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(1000, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const { client, close } = await connect(this.#kubeconfig, 1);
      this.opened++;
      const answer = client.get(configMaps, { namespace: elsewhere, name: 'idle-0' }).then(() => true);
      const late = sleep(limitMs).then(() => false);
      if (!(await Promise.race([answer.catch(() => false), late]))) this.refused++;
      close();
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}

async function inParallel(
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

/** Asks seldom, as its own list is work for the server. */
async function untilAvailable(client: Client, count: number): Promise<void> {
  const deadline = performance.now() + 300_000;
  for (;;) {
    const { items } = await client.list<KubeObject & { status?: { availableReplicas?: number } }>(
      deployments,
      {
        namespace: 'default',
      },
    );
    const running = items.filter(
      ({ metadata, status }) => metadata.name?.startsWith('burst-') && (status?.availableReplicas ?? 0) > 0,
    );
    if (running.length === count) return;
    if (performance.now() > deadline)
      throw new Error(`${running.length} of ${count} Deployments are available`);
    await sleep(2000);
  }
}

function deployment(name: string): KubeObject {
  const labels = { app: name };
  const container = { name: 'main', image: 'registry.example/bench:1' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}
