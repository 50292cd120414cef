import type { KubeObject } from '../../../kube/object.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import type { RequestInfo } from '../../request.ts';
import type { ServedResource } from '../../served.ts';
import type { Catalog } from '../catalog.ts';
import { decodeStored } from '../codec.ts';
import { follow } from '../follow.ts';
import { collectionRange, objectKey, parseKey } from '../keys.ts';
import { definitions, serveDefinition } from './crd.ts';

const everywhere = collectionRange(definitions, '*', '');

/**
 * Serves what is defined in the store, whichever server wrote it, until `signal` aborts. Resolves when all that
 * was defined by then is served; rejects when the store cannot be read.
 */
export function followDefinitions(store: Store, catalog: Catalog, signal: AbortSignal): Promise<void> {
  const serve = (key: string, object: KubeObject | undefined, revision: number): void => {
    const { cluster, name } = parseKey(definitions, key);
    serveDefinition(catalog, cluster, name, object, revision);
  };
  const put = (entry: Entry) => serve(entry.key, decodeStored(entry), entry.revision);
  const gone = (key: string, revision: number) => serve(key, undefined, revision);
  return follow(store, everywhere, { put, gone }, signal);
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
