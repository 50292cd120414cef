import type { Client } from '../client/client.ts';
import { isReady } from '../cluster/life.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { FailedError } from './errors.ts';
import { orKnown } from './known.ts';
import { physicalClusters } from './resources.ts';

/** Which clusters are rebalanced: those of these names, else all that are ready and not cordoned. Throws FailedError. */
export async function rebalanced(client: Client, names: readonly string[]): Promise<string[]> {
  if (names.length > 0) {
    for (const name of new Set(names)) {
      const found = await client
        .get<PhysicalCluster>(physicalClusters, { name })
        .catch(orKnown(client, name));
      if (found.spec?.drain) throw new FailedError(`${name} is being drained: all that can leaves it anyway`);
      if (!isReady(found))
        throw new FailedError(`${name} is not ready: nothing leaves it but for its silence`);
    }
    return [...new Set(names)].sort();
  }
  const { items } = await client.list<PhysicalCluster>(physicalClusters);
  const open = items.filter((one) => isReady(one) && !one.spec?.unschedulable && !one.spec?.drain);
  if (open.length < 2)
    throw new FailedError(
      'there are not two clusters that are ready and not cordoned: nothing has anywhere to go',
    );
  return open.map(({ metadata: { name = '' } }) => name).sort();
}
