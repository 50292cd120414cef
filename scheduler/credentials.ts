import { logicalClusterOf } from '../client/url.ts';
import type { PlacedObject } from '../cluster/closure.ts';
import { rootCluster } from '../cluster/names.ts';
import type { NamespaceInput } from './types.ts';

/** One physical cluster never gets the credentials of another, whatever names or mounts the Secret that holds them. */
export function withoutCredentials({ objects, clusters }: NamespaceInput): readonly PlacedObject[] {
  const refs = clusters.flatMap(({ spec }) => spec?.kubeconfigSecretRef ?? []);
  const isOne = ({ kind, object }: PlacedObject) =>
    kind.resource === 'secrets' &&
    logicalClusterOf(object) === rootCluster &&
    refs.some(
      ({ namespace, name }) => namespace === object.metadata.namespace && name === object.metadata.name,
    );
  return refs.length === 0 ? objects : objects.filter((placed) => !isOne(placed));
}
