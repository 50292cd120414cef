import { physicalClusters } from '../../../cluster/names.ts';
import type { Placement } from '../../../cluster/types.ts';
import { processes, profile } from './profile.ts';
import {
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  scaled,
  startStage,
  untilPlacements,
} from './stage.ts';

/** As `atoll drain c-0`: a thousand Deployments of a pod each, and a second cluster with room for all. `BENCH_PROFILE` as in idle.ts. */
export async function drain(): Promise<void> {
  const count = scaled(1000);
  const stage = await startStage({
    prefix: 'c',
    count: 2,
    runs: { startMs: 1000, stopMs: 100 },
  });
  try {
    const { client } = stage;
    await makeNamespace(client, 'bench', 'c-0');
    await createDeployments(client, count, (i) => ({ name: `app-${i}`, namespace: 'bench' }));
    await untilPlacements(client, 'all are settled', { count, seconds: 1200, is: isSettled });
    // What says c-0 keeps it there: from now on nobody says where.
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
    const metadata = { annotations: { 'atoll.dev/clusters': null } };
    await client.patch(namespaces, { name: 'bench' }, 'merge', { metadata });
    const unbound = ({ spec }: Placement) => spec?.wanted === undefined;
    await untilPlacements(client, 'nobody says where', { count, seconds: 300, is: unbound });
    const [used, from] = [await stage.processor(), performance.now()];
    const profiled = Promise.all(processes.map((of) => profile(client, of, 20)));
    const spec = { unschedulable: true, drain: true };
    await client.patch(physicalClusters, { name: 'c-0' }, 'merge', { spec });
    const hasMoved = (placement: Placement) =>
      isSettled(placement) && Object.keys(placement.spec?.shares ?? {}).join() === 'c-1';
    await untilPlacements(client, 'all have moved', { count, seconds: 1200, everyMs: 1000, is: hasMoved });
    await profiled;
    const name = `drain of ${count} Deployments whose pods take 1 s`;
    beside(`${name}: until the cluster is empty, s`, ((performance.now() - from) / 1000).toFixed(1), '<= 60');
    beside(`${name}: processor s of the server`, ((await stage.processor()) - used).toFixed(1), '-');
  } finally {
    await stage.stop();
  }
}
