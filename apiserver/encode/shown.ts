import type { KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import type { ResourceExchange } from '../core.ts';
import { fromStored } from '../registry/convert.ts';
import { parseKey } from '../registry/keys.ts';

/** An object that was listed or watched, in the version of the request. */
export function shownFrom(
  exchange: ResourceExchange,
  entry: Entry,
  object = decoded(exchange, entry),
): KubeObject {
  return isAnothers(exchange, entry) ? object : fromStored(object, exchange.served);
}

function decoded({ core, info, stored }: ResourceExchange, entry: Entry): KubeObject {
  return core.registry.decode(stored, info.cluster, entry);
}

/** Of a logical cluster where a webhook converts them: whoever reads all at once gets them as they are stored. */
function isAnothers({ core, info, stored, served }: ResourceExchange, entry: Entry): boolean {
  if (info.cluster !== '*' || !served.custom) return false;
  const { cluster } = parseKey(stored.info, entry.key);
  return core.registry.find(cluster, info.group, info.resource)?.conversion !== undefined;
}
