import { andThen, type Later } from '../../kube/later.ts';
import { undeletableNamespaces } from '../../kube/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { forbidden, type GroupResource, notFound, StatusError } from '../../kube/status.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { isGoing } from './codec.ts';
import { objectKey, parseKey } from './keys.ts';
import type { KindWrite } from './kinds/hooks.ts';
import { recentAt } from './recent.ts';
import type { ObjectRegistry } from './types.ts';

const namespaces = { group: '', resource: 'namespaces', namespaced: false };
const nameLabel = 'kubernetes.io/metadata.name';

/** Namespaces that every Kubernetes has. https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/ */
export const initialNamespaces: readonly string[] = [
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
];

export function prepareNamespace(write: KindWrite, object: KubeObject, old: KubeObject | undefined): void {
  object.metadata.labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name ?? '' };
  const spec = (object.spec ?? {}) as { finalizers?: string[] };
  const before = (old?.spec ?? {}) as { finalizers?: string[] };
  if (old === undefined) {
    object.spec = { ...spec, finalizers: [...new Set([...(spec.finalizers ?? []), 'kubernetes'])] };
  } else if (write.subresource !== 'finalize') {
    object.spec = { ...spec, ...(before.finalizers && { finalizers: before.finalizers }) };
  }
}

export function checkNamespaceDeletable(name: string): void {
  if (undeletableNamespaces.has(name)) throw forbidden(namespaces, name, 'this namespace may not be deleted');
}

/** What is about to be created. */
interface Creating {
  resource: GroupResource;
  name: string;
}

/** Nothing is created in a namespace that is not there or is going. Answers the revision in which it was made. */
export function requireNamespace(
  store: Store,
  cluster: string,
  namespace: string,
  creating: Creating,
): Later<number> {
  const key = objectKey(namespaces, cluster, '', namespace);
  return andThen(recentAt(store, key), ([known]) =>
    isLasting(known) ? known.created : refuseUnless(store, key, creating),
  );
}

/** By the bytes of what is stored. */
const lasting = new WeakSet<Uint8Array>();

function isLasting(known: Entry | undefined): known is Entry {
  if (known === undefined) return false;
  if (lasting.has(known.value)) return true;
  if (isGoing(known)) return false;
  lasting.add(known.value);
  return true;
}

async function refuseUnless(store: Store, key: string, creating: Creating): Promise<number> {
  const { name: namespace } = parseKey(namespaces, key);
  // Made a moment ago by another server, or made anew.
  const entry = await store.get(key);
  if (entry === undefined) throw notFound(namespaces, namespace);
  if (!isGoing(entry)) return entry.created;
  const { group, resource } = creating.resource;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const refusal = forbidden({ group, resource }, creating.name, why);
  throw new StatusError(403, 'Forbidden', refusal.message, {
    ...refusal.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/** As requireNamespace, of one that was looked at before, and was made in that revision: another of its name is not it. */
export function requireSameNamespace(
  store: Store,
  cluster: string,
  namespace: string,
  { made, ...creating }: Creating & { made: number },
): Later<void> {
  return andThen(requireNamespace(store, cluster, namespace, creating), (now) => {
    if (now !== made) throw notFound(namespaces, namespace);
  });
}

/** Makes the initial namespaces of a logical cluster, those that are missing. */
export async function createInitialNamespaces(registry: ObjectRegistry, cluster: string): Promise<void> {
  for (const name of initialNamespaces) {
    const entry = await registry.store.get(objectKey(namespaces, cluster, '', name));
    if (entry !== undefined) continue;
    const object: KubeObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
    await registry
      .create({ cluster, group: '', resource: 'namespaces' }, object, { manager: 'kube-apiserver' })
      .catch((error) => {
        if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
      });
  }
}
