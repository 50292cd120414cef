import { quantityOf } from '../../cluster/pod-spec.ts';
import { compareQuantity } from '../../kube/quantity.ts';
import { at, mapAt, textAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import type { Fold, FoldPart } from './part.ts';

/** PersistentVolumeClaims: bound when bound everywhere, as large as the smallest. */
export const foldClaim: Fold = ({ parts }) => {
  const phases = parts.map((part) => textAt(part.status, 'phase') ?? 'Pending');
  const phase = phases.includes('Lost') ? 'Lost' : phases.every((p) => p === 'Bound') ? 'Bound' : 'Pending';
  const accessModes = parts.map((part) => at(part.status, 'accessModes')).find(Array.isArray);
  const capacity = smallest(parts);
  const conditions = foldConditions(parts);
  return {
    phase: parts.length === 0 ? 'Pending' : phase,
    ...(phase === 'Bound' && accessModes && { accessModes: accessModes.slice(0, 10) }),
    ...(phase === 'Bound' && capacity && { capacity }),
    ...(conditions.length > 0 && { conditions }),
  };
};

function smallest(parts: readonly FoldPart[]): Record<string, string> | undefined {
  return parts
    .map((part) => mapAt(part.status, 'capacity'))
    .filter((capacity) => capacity !== undefined)
    .sort((a, b) => compareQuantity(quantityOf(a['storage']), quantityOf(b['storage'])))[0];
}
