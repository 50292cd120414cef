import type { KubeObject } from '../../kube/object.ts';

export type Volume = { name?: string; persistentVolumeClaim?: { claimName?: string }; ephemeral?: object };
export type Pod = KubeObject<{ nodeName?: string; volumes?: Volume[] }>;
export type Claim = KubeObject<
  { volumeAttributesClassName?: string },
  {
    currentVolumeAttributesClassName?: string;
    modifyVolumeStatus?: { targetVolumeAttributesClassName?: string };
  }
>;
export type PersistentVolume = KubeObject<{ volumeAttributesClassName?: string }, { phase?: string }>;

/** By what stops its deletion. https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export const protections = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
  volumeattributesclasses: 'kubernetes.io/vac-protection',
} as const;

export type Protected = keyof typeof protections;

/** True for an object that is to go and that protection may keep. */
export function isHeld(object: KubeObject, finalizer: string): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.includes(finalizer);
}

/**
 * Whether a pod of the claim's namespace keeps it: one that has a node, were it ended, until it is deleted, as Kubernetes has it. Of
 * an ephemeral volume's claim, which goes with its pod, not while that only waits for its finalizers.
 */
export function usesClaim(pod: Pod, claim: KubeObject): boolean {
  if (!pod.spec?.nodeName) return false;
  const isOwn = () =>
    claim.metadata.ownerReferences?.some((of) => of.controller === true && of.uid === pod.metadata.uid) ===
    true;
  return (pod.spec.volumes ?? []).some((volume) =>
    volume.ephemeral
      ? `${pod.metadata.name}-${volume.name}` === claim.metadata.name && isOwn() && !isShutDown(pod)
      : volume.persistentVolumeClaim?.claimName === claim.metadata.name,
  );
}

/** Its kubelet is done with it, or nobody waited for that. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

export function isBound(volume: PersistentVolume): boolean {
  return volume.status?.phase === 'Bound';
}

export function usesClass(user: Claim | PersistentVolume, name: string): boolean {
  if (user.spec?.volumeAttributesClassName === name) return true;
  const status = (user as Claim).status ?? {};
  return (
    status.currentVolumeAttributesClassName === name ||
    status.modifyVolumeStatus?.targetVolumeAttributesClassName === name
  );
}
