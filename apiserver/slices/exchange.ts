import { placements } from '../../cluster/names.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { StoreRegistry } from '../registry/registry.ts';
import type { RequestInfo } from '../request.ts';
import { joinedStore } from './store.ts';

type Handler = (exchange: ResourceExchange) => Promise<ApiResponse>;

const reads = new Set(['get', 'list', 'watch']);

export function isOfPlacements({ group, resource, verb }: RequestInfo): boolean {
  return resource === placements.resource && group === placements.group && reads.has(verb);
}

/**
 * How Placements are read: with what their clusters say in their status. Or, of all logical clusters, `slices=apart`: both kinds
 * in one list and one watch, as they are stored. So do our own controllers, which hear every word of every cluster: it comes
 * alone, not with all that k clusters say of the same object; and in one order with the Placements, so that what they have put
 * together is at each moment what was stored at one revision (client/placements.ts).
 */
export function handledJoined(handle: Handler): Handler {
  return (exchange) => {
    const { core, info, user } = exchange;
    if (info.cluster === '*' && info.query.get('slices') === 'apart')
      return handle({ ...exchange, apart: true });
    // Our own go on to write it, under the revision that the Placement itself has.
    const store = joinedStore(core.store, isOwnController(user) ? 'own' : 'newest');
    const registry = new StoreRegistry(store, core.registry.catalog, core.registry);
    return handle({ ...exchange, core: { ...core, store, registry } });
  };
}
