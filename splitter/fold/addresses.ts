import { listAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import { type Fold, type FoldPart, union } from './part.ts';

/**
 * Services and Ingresses: reachable at every address that any cluster gave them. Not where they are withdrawn, unless
 * nobody else has any: the last address stays.
 */
export const foldAddresses: Fold = ({ root, parts }) => {
  const told = addressesOf(parts.filter(({ share }) => share.withdrawn !== true));
  const ingress = told.length > 0 ? told : addressesOf(parts);
  const conditions = root.kind === 'Service' ? foldConditions(parts) : [];
  return {
    loadBalancer: ingress.length > 0 ? { ingress } : {},
    ...(conditions.length > 0 && { conditions }),
  };
};

function addressesOf(parts: readonly FoldPart[]): unknown[] {
  return union(parts.map((part) => listAt(part.status, 'loadBalancer', 'ingress')));
}
