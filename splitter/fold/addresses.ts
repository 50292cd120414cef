import { splitterUser } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, type FoldPart, union } from './part.ts';

/**
 * Services and Ingresses: reachable at every address that any cluster gave them. Not where they are withdrawn, unless
 * nobody else has any: the last address stays. Those that somebody wrote in the logical cluster stand until they are taken
 * back: a controller there that gives addresses would take turns with us for ever.
 */
export const foldAddresses: Fold = ({ root, parts }) => {
  const told = addressesOf(parts.filter(({ share }) => share.withdrawn !== true));
  const ingress = told.length > 0 ? told : addressesOf(parts);
  const conditions = root.kind === 'Service' ? foldConditions(parts) : [];
  const clusters = ingress.length > 0 ? { ingress } : {};
  return {
    loadBalancer: isAnothers(root) ? at(root.status, 'loadBalancer') : clusters,
    ...(conditions.length > 0 && { conditions }),
  };
};

function addressesOf(parts: readonly FoldPart[]): unknown[] {
  return union(parts.map((part) => listAt(part.status, 'loadBalancer', 'ingress')));
}

/** As managedFields say, of which the caches keep what wrote addresses: controller/slim.ts. */
function isAnothers({ metadata, status }: KubeObject): boolean {
  if (listAt(status, 'loadBalancer', 'ingress').length === 0) return false;
  return metadata.managedFields?.some(({ manager }) => manager !== splitterUser) === true;
}
