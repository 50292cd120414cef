import { logicalClusterOf } from '../client/url.ts';
import type { PlacedObject } from '../cluster/closure.ts';
import { rootCluster } from '../cluster/names.ts';
import type { Fleet } from './fleet.ts';
import type { NamespaceInput } from './types.ts';

/** One physical cluster never gets the credentials of another, whatever names or mounts the Secret that holds them. */
export function withoutCredentials(
  { objects }: Pick<NamespaceInput, 'objects'>,
  { credentials }: Fleet,
): readonly PlacedObject[] {
  const isOne = ({ kind, object }: PlacedObject) =>
    kind.resource === 'secrets' &&
    logicalClusterOf(object) === rootCluster &&
    credentials.has(`${object.metadata.namespace}/${object.metadata.name}`);
  return credentials.size === 0 ? objects : objects.filter((placed) => !isOne(placed));
}
