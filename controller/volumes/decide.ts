import type { KubeObject } from '../../kube/object.ts';
import { getOwn } from '../../kube/untyped.ts';

export interface ClaimRef {
  namespace?: string;
  name?: string;
  uid?: string;
}

export type Volume = KubeObject<
  { claimRef?: ClaimRef; persistentVolumeReclaimPolicy?: string; csi?: object },
  { phase?: string; message?: string; [field: string]: unknown }
>;

export type Claim = KubeObject<{ volumeName?: string }>;

const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/**
 * The status of a PersistentVolume of a logical cluster, as the persistentvolume controller has it where no claim is bound:
 * claims are bound on the clusters that they run on, to volumes of these. `claim` is the one that it names; undefined: it is not
 * there. Undefined: the status is so.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase
 */
export function statusOf(volume: Volume, claim: Claim | undefined): Volume['status'] | undefined {
  const { status } = volume;
  const wanted = phaseOf(volume, claim);
  if (status?.phase === wanted.phase) return undefined;
  // When it became so is the server's to say.
  const { message: _, lastPhaseTransitionTime: __, ...rest } = status ?? {};
  return { ...rest, ...wanted };
}

function phaseOf(volume: Volume, claim: Claim | undefined): { phase: string; message?: string } {
  const { claimRef } = volume.spec ?? {};
  if (!claimRef?.uid) return { phase: 'Available' };
  if (claim?.metadata.uid !== claimRef.uid) return left(volume);
  // One that names both is bound, though by hand; any other waits for a claim that will not have it.
  return { phase: claim.spec?.volumeName === volume.metadata.name ? 'Bound' : 'Available' };
}

/** What becomes of one whose claim has gone: there is no plugin here that would empty it, or delete what it stands for. */
function left({ metadata, spec, status }: Volume): { phase: string; message?: string } {
  const policy = spec?.persistentVolumeReclaimPolicy;
  const isOthers = spec?.csi !== undefined || getOwn(metadata.annotations ?? {}, provisionedBy) !== undefined;
  if (policy === 'Recycle') return { phase: 'Failed', message: 'No recycler plugin found for the volume!' };
  if (policy === 'Delete' && !isOthers) {
    const message = `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`;
    return { phase: 'Failed', message };
  }
  return { phase: status?.phase === 'Failed' ? 'Failed' : 'Released' };
}
