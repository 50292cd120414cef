import { andThen, type Later } from '../../kube/later.ts';
import { forbidden } from '../../kube/status.ts';
import type { ServedResource } from '../served.ts';
import type { Place } from './context.ts';
import { requireLogicalCluster } from './logical-clusters.ts';
import { requireSameNamespace } from './namespaces.ts';
import type { ObjectRegistry } from './types.ts';

/** Of a definition that is going nothing new is made: what is would come back with the next one of its name. */
export function refuseEnding({ info }: ServedResource, name: string): never {
  const why = 'create not allowed while custom resource definition is terminating';
  throw forbidden(info, name, why);
}

/**
 * Last before a create is written, as whoever was asked about it may have taken long: that what it is to be in is still
 * there, and no other of its name, by whose rules nobody has looked at it. `waited`: somebody was asked.
 */
export function requireStillThere(
  registry: ObjectRegistry,
  { cluster, namespace, made }: Place,
  { served, name, waited }: { served: ServedResource; name: string; waited: boolean },
): Later<void> {
  const { group, resource, namespaced } = served.info;
  if (served.custom) {
    const now = registry.find(cluster, group, resource);
    if (now === undefined || now.isEnding || now.definitionUid !== served.definitionUid)
      refuseEnding(served, name);
  }
  return andThen(requireLogicalCluster(registry, cluster, { served, name }), () =>
    waited && namespaced && made !== undefined
      ? requireSameNamespace(registry.store, cluster, namespace, { resource: served.info, name, made })
      : undefined,
  );
}
