import { listAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, union } from './part.ts';

/** Services and Ingresses: reachable at every address that any cluster gave them. */
export const foldAddresses: Fold = ({ root, parts }) => {
  const ingress = union(parts.map((part) => listAt(part.status, 'loadBalancer', 'ingress')));
  const conditions = root.kind === 'Service' ? foldConditions(parts) : [];
  return {
    loadBalancer: ingress.length > 0 ? { ingress } : {},
    ...(conditions.length > 0 && { conditions }),
  };
};
