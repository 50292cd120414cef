import { keyOf, logicalClusterOf } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';

/** Of the namespace that an object is in, in its logical cluster. */
export function namespaceKey(object: KubeObject): string {
  return keyOf(logicalClusterOf(object), object.metadata.namespace ?? '', '');
}
