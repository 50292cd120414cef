import type { KubeObject } from '../kube/object.ts';
import { getOwn, isRecord, setOwn } from '../kube/untyped.ts';
import { apiVersion, group } from './names.ts';
import type { ClusterSlice, Placement } from './types.ts';

/**
 * What one physical cluster says of one placed object: an object of its own in the store, beside the Placement, so that nobody's
 * word is another's write. It is no resource of the API: only the view of a cluster writes it, and it is read in its Placement.
 */
export type PlacementSlice = KubeObject<PlacementSliceSpec, ClusterSlice>;

export interface PlacementSliceSpec {
  placement: { name: string; uid: string };
  cluster: string;
  /** That it is not there was said of a share that had been told to leave. */
  left?: boolean;
}

export const slicesStored = { group, resource: 'placementslices', namespaced: true } as const;
const kind = 'PlacementSlice';

/** No name of a cluster, nor of a Placement of which one could speak, has it. */
const mark = '~';

export function sliceName(placement: string, cluster: string): string {
  return `${placement}${mark}${cluster}`;
}

/** What the names of all slices of a Placement begin with, and no others. */
export function slicesPrefix(placement: string): string {
  return sliceName(placement, '');
}

/** The Placement's name that a slice's begins with. */
export function placementOf(slice: string): string {
  return slice.slice(0, slice.lastIndexOf(mark));
}

/** Where both come in one list, or one watch. */
export function isSlice(object: KubeObject): object is PlacementSlice {
  return (
    object.kind === kind && isRecord((object.spec as Partial<PlacementSliceSpec> | undefined)?.placement)
  );
}

export function newSlice(placement: Placement, cluster: string, slice: ClusterSlice): PlacementSlice {
  const { name = '', namespace = '', uid = '' } = placement.metadata;
  const left = !slice.present && leaves(placement, cluster);
  return {
    kind,
    apiVersion,
    metadata: { name: sliceName(name, cluster), namespace },
    spec: { placement: { name, uid }, cluster, ...(left && { left }) },
    status: slice,
  };
}

/** Whether it was said of this Placement, and not of a former one of the name. */
export function isOf({ spec }: PlacementSlice, placement: Placement | undefined): boolean {
  return placement !== undefined && spec?.placement.uid === (placement.metadata.uid ?? '');
}

/**
 * The Placement with what its clusters say in status.clusters: the very same where they say nothing. That it is not there, said
 * before it was told to leave, may have been said before it was applied: who is to leave has yet to be heard.
 */
export function withSlices(placement: Placement, slices: Iterable<PlacementSlice>): Placement {
  const clusters: Record<string, ClusterSlice> = {};
  let some = false;
  for (const slice of slices) {
    const { cluster = '', left } = slice.spec ?? {};
    if (!slice.status || !isOf(slice, placement)) continue;
    if (!slice.status.present && !left && leaves(placement, cluster)) continue;
    setOwn(clusters, cluster, slice.status);
    some = true;
  }
  return some ? { ...placement, status: { ...placement.status, clusters } } : placement;
}

function leaves({ spec }: Placement, cluster: string): boolean {
  return getOwn(spec?.shares ?? {}, cluster)?.phase === 'Leaving';
}
