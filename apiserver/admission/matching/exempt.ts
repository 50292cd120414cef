import type { Store } from '../../../storage/store.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { decodeStored } from '../../registry/codec.ts';
import { foundation } from '../../registry/logical-clusters.ts';
import { recent } from '../../registry/recent.ts';

export const group = 'admissionregistration.k8s.io';
const ownGroups = new Set(['atoll.dev', 'core.kcp.io']);

/**
 * Never asked about: the configurations themselves, which a broken webhook must not lock, and our own records,
 * which describe a logical cluster's objects rather than belong to its user.
 */
export function isExempt({ requested: { info } }: AdmissionRequest): boolean {
  if (ownGroups.has(info.group)) return true;
  return info.group === group && /^(mutating|validating)(webhook|admission)/.test(info.resource);
}

/** Who takes a logical cluster away asks nobody in it: what denies or hangs would keep it for ever. */
export async function isTakenAway(store: Store, { user, cluster }: AdmissionRequest): Promise<boolean> {
  if (!isOwnController(user)) return false;
  const entry = await recent(store, foundation(cluster));
  return entry !== undefined && decodeStored(entry).metadata?.deletionTimestamp !== undefined;
}
