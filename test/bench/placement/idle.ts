import { setTimeout as sleep } from 'node:timers/promises';
import { pidsOf, residentMiB } from '../peers.ts';
import {
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  scaled,
  startStage,
  untilPlacements,
} from './stage.ts';

const seconds = 60;

/** What so many clusters take of one server while nothing happens, without and with Deployments on each. */
export async function idle(): Promise<void> {
  const count = scaled(1000);
  const each = Number(process.env['BENCH_OBJECTS'] ?? 100);
  const few = await startStage({ prefix: 'c', count: 1 });
  const mib = (of: typeof few) =>
    residentMiB({ name: 'atoll', kubeconfig: of.atoll.kubeconfig, pids: () => pidsOf(of.atoll) });
  await sleep(10_000);
  const base = await mib(few);
  await few.stop();
  const stage = await startStage({ prefix: 'c', count });
  try {
    const tell = async (objects: number) => {
      // Garbage of what was done before is given back half a minute later.
      await sleep(70_000);
      const used = await stage.processor();
      await sleep(seconds * 1000);
      const share = (((await stage.processor()) - used) / seconds) * 100;
      const name = `${count} clusters with ${objects} Deployments each, nothing happens`;
      beside(`${name}: % of one processor`, share.toFixed(1), '<= 2');
      const kib = (((await mib(stage)) - base) * 1024) / count;
      beside(`${name}: RSS for each cluster, KiB`, kib.toFixed(0), '<= 200');
    };
    await tell(0);
    if (each === 0) return;
    await makeNamespace(stage.client, 'bench');
    await createDeployments(stage.client, count * each, (i) => ({
      name: `app-${i}`,
      namespace: 'bench',
      annotations: { 'atoll.dev/clusters': `c-${i % count}` },
    }));
    await untilPlacements(stage.client, 'all are settled', {
      count: count * each,
      seconds: 3600,
      everyMs: 10_000,
      is: isSettled,
    });
    await tell(each);
  } finally {
    await stage.stop();
  }
}
