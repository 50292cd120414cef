import { leftOn } from '../../cluster/given-up.ts';
import { heardAt } from '../../cluster/heard.ts';
import type { Placement } from '../../cluster/types.ts';
import { isStatusError, notFound } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import { readObject } from '../registry/rewrite.ts';
import { getCluster } from './physical-cluster.ts';
import { addressIn, placementsStored } from './places.ts';
import { shareKind } from './respond.ts';
import type { SliceAddress } from './slices.ts';

/**
 * Whether the claims that the StatefulSet of this uid left on the cluster are to go. Fails with 404 where they are kept, and
 * where no set has left any: a cluster learns nothing else of what is elsewhere.
 */
export async function getLeftClaims(store: Store, address: SliceAddress, uid: string): Promise<object> {
  const { cluster, name, namespace } = address;
  const placement = await readObject<Placement>(store, addressIn(address, { ...placementsStored, name }));
  const targets = placement?.spec?.clusters ?? [];
  const heard = new Map(await Promise.all(targets.map(async (c) => [c, await heardOf(store, c)] as const)));
  const left = placement && leftOn(cluster, placement, { uid, heardAt: (target) => heard.get(target) });
  if (left === undefined || left === 'kept') throw notFound({ group: 'atoll.dev', resource: 'shares' }, name);
  return { ...shareKind, metadata: { name, namespace }, claims: left };
}

async function heardOf(store: Store, name: string): Promise<number | undefined> {
  try {
    return heardAt(await getCluster(store, name));
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
