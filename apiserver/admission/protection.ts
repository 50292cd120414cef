import type { AdmissionPlugin } from '../plugins.ts';

/** By `<group>/<resource>`. controller/protection/ takes them away when nobody uses what is being deleted. */
const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
};

/**
 * What a pod or a claim uses is not deleted under it.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
 */
export const protectionAdmission: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate({ stored: { info }, subresource, operation, object }) {
    if (operation !== 'CREATE' || subresource !== '' || object === undefined) return;
    const finalizer = finalizers[`${info.group}/${info.resource}`];
    if (finalizer === undefined) return;
    const there = object.metadata.finalizers ?? [];
    if (!there.includes(finalizer)) object.metadata.finalizers = [...there, finalizer];
  },
};
