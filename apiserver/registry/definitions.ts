import { sleep, systemClock } from '../../kube/clock.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import type { ServedResource } from '../options.ts';
import type { RequestInfo } from '../request.ts';
import type { Catalog } from './catalog.ts';
import { decodeStored } from './codec.ts';
import { definitions, serveDefinition } from './crd.ts';
import { collectionRange, objectKey, parseKey } from './keys.ts';

const everywhere = collectionRange(definitions, '*', '');
const againMs = 200;

/**
 * Serves what is defined in the store, whichever server wrote it, until `signal` aborts. Resolves when all that
 * was defined by then is served; rejects when the store cannot be read.
 */
export async function followDefinitions(store: Store, catalog: Catalog, signal: AbortSignal): Promise<void> {
  const known = new Set<string>();
  const serve = (key: string, event: StoreEvent | undefined, revision: number): void => {
    const { cluster, name } = parseKey(definitions, key);
    const object = event?.type === 'put' ? decodeStored(event.entry) : undefined;
    if (object === undefined) known.delete(key);
    else known.add(key);
    serveDefinition(catalog, cluster, name, object, revision);
  };
  const load = async (): Promise<void> => {
    const { entries, revision } = await store.list(everywhere);
    const there = new Set(entries.map(({ key }) => key));
    for (const key of known) if (!there.has(key)) serve(key, undefined, revision);
    for (const entry of entries) serve(entry.key, { type: 'put', entry }, entry.revision);
    await store.watch(everywhere, {
      after: revision,
      signal,
      sink: (events) => {
        for (const event of events) serve(event.entry.key, event, event.entry.revision);
      },
      onEnd: () => void again(),
    });
  };
  // The watch was too slow, or the store was away: what happened since is found by reading anew.
  const again = async (): Promise<void> => {
    for (;;) {
      await sleep(againMs, signal, systemClock);
      if (signal.aborted) return;
      try {
        return await load();
      } catch {
        // The store says so to every request, too.
      }
    }
  };
  await load();
}

/** What another server may have defined a moment ago; the watch has not told of it yet. */
export async function definedLately(
  { store, catalog }: { store: Store; catalog: Catalog },
  { cluster, group, version, resource }: Pick<RequestInfo, 'cluster' | 'group' | 'version' | 'resource'>,
): Promise<ServedResource | undefined> {
  if (group === '' || cluster === '*') return undefined;
  const name = `${resource}.${group}`;
  const entry = await store.get(objectKey(definitions, cluster, '', name));
  if (entry === undefined) return undefined;
  serveDefinition(catalog, cluster, name, decodeStored(entry), entry.revision);
  return catalog.find(cluster, group, version, resource);
}
