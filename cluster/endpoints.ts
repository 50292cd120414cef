import { createHash } from 'node:crypto';
import type { KubeObject } from '../kube/object.ts';
import { isReflected } from './reflected.ts';

export const managedByLabel = {
  endpoints: 'endpoints.kubernetes.io/managed-by',
  slice: 'endpointslice.kubernetes.io/managed-by',
} as const;
export const endpointsController = 'endpoint-controller';
export const sliceController = 'endpointslice-controller.k8s.io';
export const mirroringController = 'endpointslicemirroring-controller.k8s.io';
/** Of slices that Atoll puts on a physical cluster itself: the controllers there leave those of others alone. */
export const ourSlices = 'atoll.dev';
export const serviceNameLabel = 'kubernetes.io/service-name';

/** Endpoints of a Service whose pods run nowhere: they give way to what a physical cluster says. */
export function isPlaceholder(endpoints: KubeObject): boolean {
  return (
    endpoints.kind === 'Endpoints' &&
    endpoints.metadata.labels?.[managedByLabel.endpoints] === endpointsController &&
    !isReflected(endpoints)
  );
}

/** Of a slice that is made here for a Service or Endpoints of that uid. What it is for says its name: made twice, it is there once. */
export function sliceName(service: string, ownerUid: string, addressType: string, part = ''): string {
  const hash = createHash('sha256').update(`${ownerUid}/${addressType}/${part}`).digest('hex');
  return `${service}-${hash.slice(0, 8)}`;
}

/** As isPlaceholder, of a Service's slice. */
export function isPlaceholderSlice(slice: KubeObject, serviceUid: string | undefined): boolean {
  const { labels, deletionTimestamp, ownerReferences = [] } = slice.metadata;
  if (isReflected(slice) || deletionTimestamp) return false;
  if (labels?.[managedByLabel.slice] !== sliceController) return false;
  return ownerReferences.some(({ uid }) => uid === serviceUid);
}

/** Made by a physical cluster from Endpoints that are the user's, who has them here: here they are mirrored once. */
export function isMirrored({ metadata }: KubeObject): boolean {
  return metadata.labels?.[managedByLabel.slice] === mirroringController;
}
