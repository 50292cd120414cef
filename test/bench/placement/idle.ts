import { setTimeout as sleep } from 'node:timers/promises';
import { pidsOf, residentMiB } from '../peers.ts';
import { print } from '../table.ts';
import { processes, profile } from './profile.ts';
import {
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  type Stage,
  scaled,
  startStage,
  untilPlacements,
} from './stage.ts';

const seconds = 60;

/**
 * What so many clusters take of one server while nothing happens, without and with Deployments on each. Where there are to be none they
 * are still ones: it is told what each was asked, and `BENCH_PROFILE=<folder>` has what each process did meanwhile.
 */
export async function idle(): Promise<void> {
  const count = scaled(1000);
  const each = Number(process.env['BENCH_OBJECTS'] ?? 100);
  const still = each === 0;
  const few = await startStage({ prefix: 'c', count: 1, still });
  await sleep(10_000);
  const base = await resident(few);
  await few.stop();
  const stage = await startStage({ prefix: 'c', count, still });
  try {
    const tell = async (objects: number) => {
      // Garbage of what was done before is given back half a minute later.
      await sleep(70_000);
      const [used, asked] = [await stage.processor(), still ? await stage.clusters.asked() : undefined];
      await sleep(seconds * 1000);
      const share = (((await stage.processor()) - used) / seconds) * 100;
      const name = `${count} clusters with ${objects} Deployments each, nothing happens`;
      beside(`${name}: % of one processor`, share.toFixed(1), '<= 2');
      const kib = (((await resident(stage)) - base) * 1024) / count;
      beside(`${name}: RSS for each cluster, KiB`, kib.toFixed(0), '<= 200');
      if (!asked) return;
      const { requests, connections } = await stage.clusters.asked();
      print([`${name}: connections of each`, (connections / count).toFixed(2), '-', '-']);
      for (const [what, times] of Object.entries(requests)) {
        const more = times - (asked.requests[what] ?? 0);
        if (more > 0) print([`of each, ${seconds} s: ${what}`, (more / count).toFixed(2), '-', '-']);
      }
    };
    await tell(0);
    for (const of of processes) await profile(stage.client, of, seconds / 2);
    if (still) return;
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

function resident({ atoll }: Stage): Promise<number> {
  return residentMiB({ name: 'atoll', kubeconfig: atoll.kubeconfig, pids: () => pidsOf(atoll) });
}
