import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import type { Transport } from '../../kube/http.ts';
import type { Logger } from '../../kube/log.ts';
import type { DistantCluster } from '../../sim/messages.ts';
import { runCopier } from '../../sim/volumes/copier.ts';

/** What the simulated clusters name as theirs. */
export const demoCopier = 'simulated';

/** Carries data between them, as a copier of a real world does; resolves once it has stopped. */
export async function copyBetween(
  clusters: readonly DistantCluster[],
  { transport, signal, logger }: { transport: Transport; signal: AbortSignal; logger: Logger },
): Promise<void> {
  const ways = await Promise.all(
    clusters.map(async ({ name, kubeconfig }) => [name, await transportFromKubeconfig(kubeconfig)] as const),
  );
  const reached = new Map(ways.map(([name, way]) => [name, new Client(way)]));
  const client = new Client(transport, { cluster: '*', userAgent: 'simulated-copier' });
  await runCopier({
    name: demoCopier,
    client,
    informers: new InformerSet(client, { cluster: '*', signal, logger }),
    clusterOf: (name) => reached.get(name),
    halfMs: () => 500,
    signal,
    logger,
  });
  for (const [, way] of ways) way.close();
}
