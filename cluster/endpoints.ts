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

/** Made by a physical cluster from Endpoints that are the user's, who has them here: here they are mirrored once. */
export function isMirrored({ metadata }: KubeObject): boolean {
  return metadata.labels?.[managedByLabel.slice] === mirroringController;
}
