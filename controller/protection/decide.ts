import type { KubeObject } from '../../kube/object.ts';

export type Volume = { name?: string; persistentVolumeClaim?: { claimName?: string }; ephemeral?: object };
export type Pod = KubeObject<{ nodeName?: string; volumes?: Volume[] }, { phase?: string }>;
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

/** Whether a pod of the claim's namespace still needs it: one that ended does not. */
export function usesClaim({ metadata, spec, status }: Pod, claim: string): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  return (spec?.volumes ?? []).some((volume) =>
    volume.ephemeral
      ? `${metadata.name}-${volume.name}` === claim
      : volume.persistentVolumeClaim?.claimName === claim,
  );
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
