import { startSimulatedCluster } from '../../../sim/cluster.ts';
import type { Answer, Made, Order } from './messages.ts';
import { startRunning } from './running.ts';
import { asked, startStill } from './still.ts';
import { startTaking } from './taking.ts';
import { startThin } from './thin.ts';

/* The program of a process that is nothing but physical clusters. It lives no longer than the one that started it. */

process.on('disconnect', () => process.exit(1));
process.once('message', async (order: Order) => {
  const answer: Answer = await start(order).then(
    (clusters) => ({ clusters }),
    (error: Error) => ({ failed: error.stack ?? error.message }),
  );
  process.send?.(answer);
  process.on('message', () => process.send?.(asked));
});

async function start({ prefix, count, pods, still, takes, runs }: Order): Promise<Made[]> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  if (still) return await startStill(names);
  if (takes) return await startTaking(names);
  if (runs) return await startRunning(names, runs);
  if (!pods) return await startThin(names);
  const span = (ms: number) => [ms, ms] as const;
  const behaviour = {
    name: 'bench',
    scheduledAfterMs: span(0),
    readyAfterMs: span(pods.startMs),
    stopsAfterMs: span(pods.stopMs),
  };
  const made: Made[] = [];
  for (const name of names) {
    const { nodes } = pods;
    const { kubeconfig } = await startSimulatedCluster({ name, nodes, behaviours: [behaviour] });
    made.push({ name, kubeconfig });
  }
  return made;
}
