import { logicalClusters, rootCluster } from '../../cluster/names.ts';
import { andThen, type Later } from '../../kube/later.ts';
import { forbidden, StatusError } from '../../kube/status.ts';
import { type Entry, prefixRange, type Store, StoreError } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import { isGoing } from './codec.ts';
import { objectKey } from './keys.ts';
import { recentAt } from './recent.ts';
import type { ObjectRegistry } from './types.ts';

/** kcp's, of the one LogicalCluster that a logical cluster has. */
const foundationName = 'cluster';

/** The object that says that a logical cluster is there. */
export function foundation(cluster: string): string {
  return objectKey({ ...logicalClusters, namespaced: false }, cluster, '', foundationName);
}

/** Whether the logical cluster goes with the LogicalCluster of this name in it. root has none: it never goes. */
export function isFoundation(cluster: string, name: string): boolean {
  return name === foundationName && cluster !== rootCluster;
}

/**
 * Nothing is created in a logical cluster that is going or gone: what comes late would stay for ever.
 */
export function requireLogicalCluster(
  registry: ObjectRegistry,
  cluster: string,
  creating: { served: ServedResource; name: string },
): Later<void> {
  const { group, resource } = creating.served.info;
  if (cluster === rootCluster || (group === logicalClusters.group && resource === logicalClusters.resource)) {
    return undefined;
  }
  return andThen(recentAt(registry.store, foundation(cluster)), ([known]) =>
    known !== undefined && !isGoing(known) ? undefined : refuseUnless(registry, cluster, creating),
  );
}

async function refuseUnless(
  registry: ObjectRegistry,
  cluster: string,
  { served, name }: { served: ServedResource; name: string },
): Promise<void> {
  const entry = await registry.store.get(foundation(cluster));
  if (entry === undefined) {
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
  }
  if (!isGoing(entry)) return;
  const { group, resource } = served.info;
  const why = `unable to create new content in logical cluster ${cluster} because it is being terminated`;
  throw forbidden({ group, resource }, name, why);
}

const atOnce = 64;

/**
 * Removes every key of a logical cluster but its foundation, whatever kind it is of and whether that is still served.
 * May be done again at any time.
 */
export async function sweep(store: Store, cluster: string): Promise<void> {
  for await (const kind of kinds(store)) {
    const range = prefixRange(`${kind}${cluster}/`);
    for (;;) {
      const { entries, more } = await store.list(range, { limit: 1000 });
      const gone = entries.filter(({ key }) => key !== foundation(cluster));
      for (let i = 0; i < gone.length; i += atOnce) {
        await Promise.all(gone.slice(i, i + atOnce).map((entry) => remove(store, entry)));
      }
      if (!more) break;
    }
  }
}

/** `/<group>/<resource>/` of each kind that has keys. */
async function* kinds(store: Store): AsyncGenerator<string> {
  let start = '/';
  for (;;) {
    const { entries } = await store.list({ start, end: '0' }, { limit: 1 });
    const [, group, resource] = entries[0]?.key.split('/') ?? [];
    if (group === undefined || resource === undefined) return;
    const kind = `/${group}/${resource}/`;
    yield kind;
    start = prefixRange(kind).end;
  }
}

async function remove(store: Store, { key, revision }: Entry): Promise<void> {
  for (let expected: number | undefined = revision; expected !== undefined; ) {
    try {
      await store.delete(key, expected);
      return;
    } catch (error) {
      if (!(error instanceof StoreError && ['conflict', 'missing'].includes(error.code))) throw error;
      expected = (await store.get(key))?.revision;
    }
  }
}
