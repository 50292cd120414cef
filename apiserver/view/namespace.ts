import { andThen, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { objectKey } from '../registry/keys.ts';
import { recentAt } from '../registry/recent.ts';
import { readObject } from '../registry/rewrite.ts';
import { type NamespacePlace, namespacesStored } from './places.ts';

/**
 * Whether the Namespace of that name and uid is there, and whether it is going. A syncer removes what it made for one that
 * is gone, and for nothing less than this 404. The uid is told in shares alone: it is what proves that a cluster had one.
 */
export async function getNamespace(store: Store, place: NamespacePlace, meant: unknown): Promise<KubeObject> {
  const { logical, namespace: name } = place;
  const found = await readObject(store, {
    resource: namespacesStored,
    cluster: logical,
    namespace: '',
    name,
  });
  if (!found?.metadata.uid || found.metadata.uid !== meant) throw notFound(namespacesStored, name);
  const { uid, deletionTimestamp } = found.metadata;
  const metadata = { name, uid, ...(deletionTimestamp && { deletionTimestamp }) };
  return { kind: 'Namespace', apiVersion: 'v1', metadata };
}

/**
 * Fails with 404 where the Namespace of that name is not the very one that is meant, but was made after it. That it is the one goes by what
 * this server has heard, as for all that is created in one: see requireNamespace.
 */
export function requireUid(store: Store, place: NamespacePlace, uid: unknown): Later<unknown> {
  if (!uid) return;
  const key = objectKey(namespacesStored, place.logical, '', place.namespace);
  return andThen<readonly Entry[], unknown>(recentAt(store, key), ([known]) =>
    known && uidOf(known) === uid ? known : getNamespace(store, place, uid),
  );
}

/** By the bytes of what is stored. */
const uids = new WeakMap<Uint8Array, string>();

function uidOf(entry: Entry): string | undefined {
  const known = uids.get(entry.value);
  if (known !== undefined) return known;
  const { uid } = decodeStored(entry).metadata;
  if (uid !== undefined) uids.set(entry.value, uid);
  return uid;
}
