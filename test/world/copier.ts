import { ownUser } from '../../apiserver/authn/controllers.ts';
import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import { controllersUser } from '../../cluster/names.ts';
import { silentLogger } from '../../kube/log.ts';
import { type CopierOptions, runCopier } from '../../sim/volumes/copier.ts';
import { resources } from './objects.ts';
import type { World } from './world.ts';

const master = { name: 'copier', groups: ['system:masters'] };

/** A simulated copier of all logical clusters, between all that are called `clusters`. It ends when it is told to. */
export async function startCopier(
  world: World,
  clusters: readonly string[],
  how: Pick<CopierOptions, 'halfMs' | 'faultOf'> = {},
): Promise<{ stop(): void }> {
  for (const name of clusters)
    await world.admin.patch(resources.physicalclusters, { name }, 'merge', { spec: { copier: 'sim' } });
  const life = new AbortController();
  const client = new Client(world.transport(master), { cluster: '*' });
  const reading = new Client(world.transport(ownUser(controllersUser)), { cluster: '*' });
  void runCopier({
    name: 'sim',
    client,
    informers: new InformerSet(reading, { cluster: '*', signal: life.signal, logger: silentLogger }),
    clusterOf: (name) => world.physical(name).client,
    signal: life.signal,
    logger: silentLogger,
    ...how,
  });
  return { stop: () => life.abort(new Error('the copier is stopped')) };
}
