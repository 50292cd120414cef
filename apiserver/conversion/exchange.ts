import type { ApiResponse } from '../../kube/http.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { collectionRange, objectKey } from '../registry/keys.ts';
import { servedAs } from '../registry/kinds/versions.ts';
import { StoreRegistry } from '../registry/registry.ts';
import type { ServedResource } from '../served.ts';
import { convertingStore } from './store.ts';
import { Versions } from './versions.ts';

type Handler = (exchange: ResourceExchange) => Promise<ApiResponse>;

/**
 * How a request about objects between whose versions a webhook converts is handled. A user's is about objects in its version,
 * whatever they are stored in. Our own controllers, and whoever reads all logical clusters at once, see what is stored, in the
 * version in which it is: they never wait for a webhook, nor see what one makes of an object.
 */
export function handledIn(exchange: ResourceExchange, handle: Handler): Handler {
  const { info, user } = exchange;
  if (info.cluster !== '*' && !isOwnController(user)) return () => handle(inVersion(exchange));
  return async () => handle(await asStored(exchange));
}

function inVersion(exchange: ResourceExchange): ResourceExchange {
  const { core, info, served } = exchange;
  const { cluster } = info;
  const { group, version, resource } = served.info;
  const range = collectionRange(served.info, cluster, '');
  // A watch lasts: it goes by what the definition says then.
  const current = () => core.catalog.find(cluster, group, version, resource) ?? served;
  const versions = new Versions(core.converter, cluster, current);
  const store = convertingStore(core.store, range, versions);
  const { catalog, roles, flows } = core.registry;
  const registry = new StoreRegistry(store, catalog, roles, flows, versions);
  const shown = shownAs(served);
  return { ...exchange, core: { ...core, store, registry }, served: shown, stored: shown };
}

/** What the store converts is by its definition already. */
const known = new WeakMap<ServedResource, ServedResource>();

function shownAs(served: ServedResource): ServedResource {
  const there = known.get(served);
  if (there !== undefined) return there;
  const { definition: _, ...shown } = served;
  known.set(served, shown);
  return shown;
}

async function asStored(exchange: ResourceExchange): Promise<ResourceExchange> {
  const { core, info, stored } = exchange;
  const { cluster, namespace, name } = info;
  const key = objectKey(stored.info, cluster, namespace, name);
  const entry = name === '' ? undefined : await core.store.get(key);
  const as = (entry && servedAs(stored, entry.value)) ?? stored;
  return { ...exchange, served: as, stored: as };
}
