import type { OwnerReference } from '../../kube/object.ts';
import type { About, Word } from '../events.ts';
import type { Node } from './graph.ts';

/**
 * What is said of an object that names an owner in another namespace: for the collector such an owner is none, and without
 * another the object goes. `known`: the object of that uid; `before`: whose it was said to be, of which it was told then.
 */
export function wordOfMisplaced(
  node: Node,
  before: readonly OwnerReference[],
  known: (uid: string) => Node | undefined,
): Word | undefined {
  const { namespace } = node;
  for (const owner of node.owners) {
    const { apiVersion, kind, name, uid } = owner;
    if (before.some((one) => one.uid === uid)) continue;
    const there = known(uid);
    if (!there || there.cluster !== node.cluster) continue;
    if (there.namespace === '' || there.namespace === namespace) continue;
    const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`;
    return { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message };
  }
  return undefined;
}

export function aboutNode({ cluster, resource, kind, namespace, name, uid }: Node): About {
  const { group, version } = resource;
  return { ...(cluster !== undefined && { cluster }), group, version, kind, namespace, name, uid };
}
