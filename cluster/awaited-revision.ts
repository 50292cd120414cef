import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import type { Placement } from './types.ts';

/** Whether clusters are to make a revision of the workload's template. */
export function isToBeMade(workload: KubeObject, placement: Placement | undefined): boolean {
  const { kind, metadata, spec } = workload;
  if (metadata.deletionTimestamp !== undefined) return false;
  if (kind === 'Deployment' && at(spec, 'paused') === true) return false;
  const isOfIt = placement?.spec?.ref.uid === metadata.uid;
  return isOfIt && Object.keys(placement?.spec?.shares ?? {}).length > 0;
}
