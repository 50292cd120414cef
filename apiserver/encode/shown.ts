import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';
import { fromStored, isStored } from '../registry/convert.ts';
import { parseKey } from '../registry/keys.ts';
import { storedIn } from '../registry/kinds/versions.ts';

/** An object that was listed or watched, in the version of the request. */
export function shownFrom(
  exchange: ResourceExchange,
  entry: Entry,
  object = decoded(exchange, entry),
): KubeObject {
  if (!isOfAll(exchange)) return fromStored(object, exchange.served);
  const apiVersion = formatApiVersion(exchange.served.info);
  return object.apiVersion === apiVersion || isAnothers(exchange, entry) ? object : { ...object, apiVersion };
}

/** Whether the bytes of what is listed or watched are answered as they are, once `toSplice` has seen them. */
export function isSpliced(exchange: ResourceExchange): boolean {
  return isStored(exchange.served) || isOfAll(exchange);
}

/** The entry whose bytes are what `shownFrom` answers. */
export function toSplice(exchange: ResourceExchange, entry: Entry): Entry {
  if (!isOfAll(exchange) || storedIn(entry.value) === formatApiVersion(exchange.served.info)) return entry;
  if (isAnothers(exchange, entry)) return entry;
  return { ...entry, value: encodeStored(shownFrom(exchange, entry, decodeStored(entry))) };
}

function decoded({ core, info, stored }: ResourceExchange, entry: Entry): KubeObject {
  return core.registry.decode(stored, info.cluster, entry);
}

/** Custom resources of all logical clusters: each has its own definition, and none says how others' are shown. */
export function isOfAll({ info, served }: ResourceExchange): boolean {
  return info.cluster === '*' && served.custom === true;
}

/** Of a logical cluster where a webhook converts them: whoever reads all at once gets them as they are stored. */
function isAnothers({ core, info, stored }: ResourceExchange, entry: Entry): boolean {
  const { cluster } = parseKey(stored.info, entry.key);
  return core.registry.find(cluster, info.group, info.resource)?.conversion?.config !== undefined;
}
