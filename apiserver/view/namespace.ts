import type { KubeObject } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
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

/** Fails with 404 where the Namespace of that name is not the very one that is meant, but was made after it. */
export async function requireUid(store: Store, place: NamespacePlace, uid: unknown): Promise<void> {
  if (!uid) return;
  await getNamespace(store, place, uid);
}
