import { physicalClusters } from '../../cluster/names.ts';
import type { ObjectAddress } from '../registry/rewrite.ts';

/** The kinds that the view reads or writes by name. */
export const placementsStored = { group: 'atoll.dev', resource: 'placements', namespaced: true };
export const namespacesStored = { group: '', resource: 'namespaces', namespaced: false };
export const accountsStored = { group: '', resource: 'serviceaccounts', namespaced: true };
export const slicesStored = { group: 'discovery.k8s.io', resource: 'endpointslices', namespaced: true };
export const clustersStored = { ...physicalClusters, namespaced: false };

/** A namespace of a logical cluster. */
export interface NamespacePlace {
  logical: string;
  namespace: string;
}

/** The object of a placed or reflected kind in this namespace: all of them are namespaced. */
export function addressIn(
  { logical, namespace }: NamespacePlace,
  { group, resource, name }: { group: string; resource: string; name: string },
): ObjectAddress {
  return { resource: { group, resource, namespaced: true }, cluster: logical, namespace, name };
}
