import type { GroupVersion } from '../gvk.ts';
import { builtinResources } from '../schema/builtin.ts';

/**
 * Versions that Kubernetes 1.36 knows and does not serve by default, or has no objects of. The OpenAPI 2 document
 * says of kinds that all versions share (DeleteOptions, WatchEvent) that they are of these too.
 */
const unserved: Readonly<Record<string, string>> = {
  'admission.k8s.io': 'v1 v1beta1',
  'admissionregistration.k8s.io': 'v1alpha1 v1beta1',
  'apiextensions.k8s.io': 'v1beta1',
  'apiregistration.k8s.io': 'v1beta1',
  apps: 'v1beta1 v1beta2',
  'authentication.k8s.io': 'v1alpha1 v1beta1',
  'authorization.k8s.io': 'v1beta1',
  batch: 'v1beta1',
  'certificates.k8s.io': 'v1alpha1 v1beta1',
  'coordination.k8s.io': 'v1alpha2 v1beta1',
  'discovery.k8s.io': 'v1beta1',
  'events.k8s.io': 'v1beta1',
  extensions: 'v1beta1',
  'flowcontrol.apiserver.k8s.io': 'v1beta1 v1beta2 v1beta3',
  'imagepolicy.k8s.io': 'v1alpha1',
  'internal.apiserver.k8s.io': 'v1alpha1',
  'networking.k8s.io': 'v1beta1',
  'node.k8s.io': 'v1alpha1 v1beta1',
  policy: 'v1beta1',
  'rbac.authorization.k8s.io': 'v1alpha1 v1beta1',
  'resource.k8s.io': 'v1alpha3 v1beta1 v1beta2',
  'scheduling.k8s.io': 'v1alpha2 v1beta1',
  'storage.k8s.io': 'v1alpha1 v1beta1',
  'storagemigration.k8s.io': 'v1beta1',
};

/** `served` and those beside it, in the order of their names. */
export function registeredVersions(served: readonly GroupVersion[]): GroupVersion[] {
  const beside = Object.entries(unserved).flatMap(([group, versions]) =>
    versions.split(' ').map((version) => ({ group, version })),
  );
  return [...served, ...beside].sort((a, b) =>
    a.group === b.group ? (a.version < b.version ? -1 : 1) : a.group < b.group ? -1 : 1,
  );
}

const ofServers = [
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
];

/** Those that clients know: what the documents of custom resources name. */
export function clientVersions(): GroupVersion[] {
  const served = new Map(
    builtinResources.map(({ group, version }) => [`${group}/${version}`, { group, version }]),
  );
  return registeredVersions([...served.values()]).filter(({ group }) => !ofServers.includes(group));
}
