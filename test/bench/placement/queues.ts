import { setTimeout as sleep } from 'node:timers/promises';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';

/** What the work queues of all processes of a server say together. */
export interface Queues {
  /** Keys that wait or are worked on. */
  busy: number;
  /** Since it started, by controller. */
  adds: ReadonlyMap<string, number>;
}

export async function openQueues(kubeconfig: string): Promise<{ read(): Promise<Queues>; close(): void }> {
  const transport = await transportFromKubeconfigFile(kubeconfig);
  const read = async () => {
    const answer = await transport({ method: 'GET', url: '/metrics', headers: {} });
    if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
    return parse(Buffer.from(answer.body as Uint8Array).toString());
  };
  return { read, close: () => transport.close() };
}

function parse(text: string): Queues {
  const adds = new Map<string, number>();
  let busy = 0;
  for (const line of text.split('\n')) {
    const [, metric, name = '', value] = /^(workqueue_\w+)\{name="([^"]*)"\} (\S+)$/.exec(line) ?? [];
    if (metric === 'workqueue_depth' || metric === 'workqueue_unfinished_work_seconds') busy += Number(value);
    if (metric === 'workqueue_adds_total') adds.set(name, (adds.get(name) ?? 0) + Number(value));
  }
  return { busy, adds };
}

/**
 * Seconds since `from` until nothing waited or was worked on, and nothing did for `quietMs` from then on. `begun`: not
 * before so many keys came to each of these controllers.
 */
export async function untilDrained(
  kubeconfig: string,
  {
    from,
    begun,
    quietMs = 5000,
    seconds = 600,
  }: {
    from: number;
    begun: { controllers: readonly string[]; keys: number };
    quietMs?: number;
    seconds?: number;
  },
): Promise<{ drained: number; adds: ReadonlyMap<string, number> }> {
  const queues = await openQueues(kubeconfig);
  let last = performance.now();
  for (;;) {
    const { busy, adds } = await queues.read();
    const now = performance.now();
    const hasBegun = begun.controllers.every((name) => (adds.get(name) ?? 0) >= begun.keys);
    if (busy > 0 || !hasBegun) last = now;
    if (now - last > quietMs) {
      queues.close();
      return { drained: (last - from) / 1000, adds };
    }
    if (process.env['BENCH_TELL']) process.stderr.write(`${busy} ${JSON.stringify([...adds])}\n`);
    if (now - from > seconds * 1000)
      throw new Error(`not drained within ${seconds} s: ${JSON.stringify([...adds])}`);
    await sleep(1000);
  }
}
