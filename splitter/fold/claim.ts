import { quantityOf } from '../../cluster/pod-spec.ts';
import { compareQuantity } from '../../kube/quantity.ts';
import { at, mapAt, textAt } from '../../kube/untyped.ts';
import { isGoing } from '../traffic.ts';
import { foldConditions } from './conditions.ts';
import type { Fold, FoldPart, Status } from './part.ts';

/**
 * PersistentVolumeClaims: bound when bound everywhere, as large as the smallest, and grown or modified as far as that is.
 * What leaves says nothing beside what stays: its volume is not the claim's any more.
 */
export const foldClaim: Fold = ({ parts: all }) => {
  const staying = all.filter(({ share }) => !isGoing(share));
  const parts = staying.length > 0 ? staying : all;
  const phases = parts.map((part) => textAt(part.status, 'phase') ?? 'Pending');
  const phase = phases.includes('Lost') ? 'Lost' : phases.every((p) => p === 'Bound') ? 'Bound' : 'Pending';
  const conditions = foldConditions(all);
  return {
    phase: parts.length === 0 ? 'Pending' : phase,
    ...(phase === 'Bound' && ofVolumes(parts)),
    ...(conditions.length > 0 && { conditions }),
  };
};

const fieldsLimit = 10;

function ofVolumes(parts: readonly FoldPart[]): Status {
  const accessModes = parts.map((part) => at(part.status, 'accessModes')).find(Array.isArray);
  const [last] = [...parts].sort(
    (a, b) =>
      bySize(a, b) || Number(isUnderWay(b)) - Number(isUnderWay(a)) || (a.cluster < b.cluster ? -1 : 1),
  );
  const { status = {} } = last ?? {};
  const change = mapAt(status, 'modifyVolumeStatus');
  const className = textAt(status, 'currentVolumeAttributesClassName');
  const amounts = ['capacity', 'allocatedResources', 'allocatedResourceStatuses'].flatMap((name) => {
    const found = mapAt(status, name);
    return found ? [[name, Object.fromEntries(Object.entries(found).slice(0, fieldsLimit))]] : [];
  });
  return {
    ...(accessModes && { accessModes: accessModes.slice(0, fieldsLimit) }),
    ...Object.fromEntries(amounts),
    ...(className !== undefined && { currentVolumeAttributesClassName: className }),
    ...(change && { modifyVolumeStatus: change }),
  };
}

/** One that has yet to say how large it is comes last: what others say is of use. */
function bySize(a: FoldPart, b: FoldPart): number {
  const [one, other] = [a, b].map((part) => mapAt(part.status, 'capacity')?.['storage']);
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  return compareQuantity(quantityOf(one), quantityOf(other));
}

function isUnderWay({ status }: FoldPart): boolean {
  return ['allocatedResourceStatuses', 'modifyVolumeStatus'].some((name) => at(status, name) !== undefined);
}
