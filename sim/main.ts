import { type Logger, silentLogger } from '../kube/log.ts';
import { type SimulatedCluster, startSimulatedCluster } from './cluster.ts';
import type { Answer, Order } from './messages.ts';

/*
 * The program of a process that simulates physical clusters beside the one that uses them, as real ones are beside it, too.
 * It lives no longer than that one.
 */

// A terminal's Ctrl-C goes to all: the first process says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
const failed = ({ err, cluster }: { err?: Error; cluster?: string }, message: string) =>
  process.send?.({ failed: message, cluster: cluster ?? '', error: err?.message ?? '' } satisfies Answer);
const logger: Logger = { ...silentLogger, error: failed };
let running: Promise<SimulatedCluster[]> = Promise.resolve([]);
process.on('message', async (said: Order) => {
  if (said.order === 'stop') {
    for (const cluster of await running) await cluster.stop();
    process.exit(0);
  }
  running = Promise.all(said.clusters.map((cluster) => startSimulatedCluster({ ...cluster, logger })));
  const clusters = (await running).map(({ name, url, kubeconfig }) => ({ name, url, kubeconfig }));
  process.send?.({ clusters } satisfies Answer);
});
