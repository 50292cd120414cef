import type { Placement } from '../../../cluster/types.ts';
import { processes, profile } from './profile.ts';
import {
  allPlacements,
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  scaled,
  startStage,
  untilPlacements,
} from './stage.ts';

/** What its condition says is of before while nobody has acted on what was decided. */
function isInPlace(placement: Placement): boolean {
  const { clusters = [], shares = {} } = placement.spec ?? {};
  return isSettled(placement) && clusters.every((name) => shares[name]?.phase === 'Active');
}

const policies = { group: 'atoll.dev', version: 'v1alpha1', resource: 'clusterplacementpolicies' };

/** One policy puts so many Deployments, each on one of so many clusters before, on a tenth of these. */
export async function policy(): Promise<void> {
  const [clusters, objects] = [scaled(1000), scaled(1000)];
  const chosen = Math.ceil(clusters / 10);
  const labels = (i: number) => ({ pool: i % 10 === 0 ? 'wide' : 'narrow' });
  const stage = await startStage({ prefix: 'c', count: clusters, takes: true }, { labels });
  try {
    const { client } = stage;
    await makeNamespace(client, 'bench');
    await createDeployments(client, objects, (i) => ({
      name: `app-${i}`,
      namespace: 'bench',
      replicas: chosen,
    }));
    await untilPlacements(client, 'all are settled', { count: objects, seconds: 900, is: isSettled });
    const [stored, used] = [await stage.stored(), await stage.processor()];
    const profiled = processes.map((of) =>
      profile(client, of, Number(process.env['BENCH_PROFILE_SECONDS'] ?? 5)),
    );
    const from = performance.now();
    await client.create(policies, {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'ClusterPlacementPolicy',
      metadata: { name: 'wide' },
      spec: { clusters: { labelSelector: { matchLabels: { pool: 'wide' } } } },
    });
    const isDecided = ({ spec }: Placement) => spec?.clusters.length === chosen;
    await untilPlacements(client, 'all are decided', {
      count: objects,
      seconds: 600,
      everyMs: 250,
      is: isDecided,
    });
    const seconds = (performance.now() - from) / 1000;
    const name = `one policy over ${chosen} of ${clusters} clusters for ${objects} Deployments`;
    beside(`${name}: all decided after, s`, seconds.toFixed(1), '<= 2');
    await Promise.all(profiled);
    const mib = async () => (((await stage.stored()) - stored) / (1 << 20)).toFixed(0);
    beside(`${name}: growth of the store until then, MiB`, await mib(), '<= 100');
    beside(`${name}: processor s until then`, ((await stage.processor()) - used).toFixed(1), '-');
    const size = JSON.stringify(await allPlacements(client)).length / objects / 1024;
    beside(`${name}: KiB of a Placement then`, size.toFixed(0), '-');
    await untilPlacements(client, 'all are in place', {
      count: objects,
      seconds: Number(process.env['BENCH_PATIENCE'] ?? 1200),
      everyMs: 10_000,
      is: isInPlace,
    }).then(
      () => beside(`${name}: all in place after, s`, ((performance.now() - from) / 1000).toFixed(0), '-'),
      (error: Error) => beside(`${name}: ${error.message}`, '-', '-'),
    );
    beside(`${name}: growth of the store until then, MiB`, await mib(), '-');
  } finally {
    await stage.stop();
  }
}
