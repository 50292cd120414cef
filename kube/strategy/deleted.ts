const shown = new Set([
  '/namespaces',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
]);

/** Kinds whose deletion kube-apiserver answers with the deleted object; all else with a Status. */
export function showsDeleted({ group, resource }: { group: string; resource: string }): boolean {
  return group === 'resource.k8s.io' || shown.has(`${group}/${resource}`);
}
