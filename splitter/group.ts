import { kindNamed } from '../cluster/kinds.ts';
import { kindOf, slicesOf } from '../cluster/ruled.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt, numberAt } from '../kube/untyped.ts';
import type { Late } from './hold.ts';
import { availableOf } from './ready.ts';

/** A workload, as those see it that move with it. */
export interface Member {
  root: KubeObject;
  placement: Placement;
  /** It breaks before it is made: see Plan.once. */
  once: boolean;
  /** It goes when somebody says so. */
  paused: boolean;
}

/**
 * Whom a member waits for before it leaves `cluster`: each of the others that is to leave it too and is not where it is to
 * be. What breaks before it is made is there only when it has left, so it waits for none of its like, and all others for it.
 */
export function lateMembers(cluster: string, self: Member, others: readonly Member[]): Late[] {
  return others
    .filter((other) => !(self.once && other.once) && isToLeave(other, cluster) && !isThere(other, cluster))
    .map(({ root, paused }) => ({ who: `${kindOf(root)} ${root.metadata.name}`, patient: paused }));
}

/** What a Deployment has adopted serves for that one, and stays where it is as long as that one does: its pods would only be made anew. */
export function lateOwner(cluster: string, owner: Placement | undefined): Late[] {
  const { ref, shares, clusters = [] } = owner?.spec ?? {};
  const phase = shares?.[cluster]?.phase;
  if (!ref || phase === undefined || phase === 'Leaving') return [];
  // Then nothing will end the wait but its user.
  const toStay = clusters.includes(cluster) ? ', and stays: move that one, and this leaves with it' : '';
  return [{ who: `${ref.kind} ${ref.name} (it has adopted this${toStay})`, patient: true, firm: true }];
}

/** What serves nobody where it is may never do elsewhere: nobody waits for it. */
function isToLeave({ once, placement }: Member, cluster: string): boolean {
  const { spec } = placement;
  const share = spec?.shares?.[cluster];
  if (share?.phase !== 'Active' && share?.phase !== 'Joining') return false;
  if (spec?.blocked !== true && spec?.clusters.includes(cluster)) return false;
  return once || availableOf(share, slicesOf(placement)[cluster]) > 0;
}

/**
 * Counted on wherever it is to be, with all that it is to have. What is blocked is not where it ought to be as long as that is why it
 * is on `cluster`; where what it was bound for is taken from it, it is back.
 */
function isThere({ root, placement: { spec } }: Member, cluster: string): boolean {
  const { clusters = [], shares = {}, blocked } = spec ?? {};
  if (clusters.length === 0 || (blocked === true && clusters.includes(cluster))) return false;
  if (!clusters.every((c) => shares[c]?.phase === 'Active')) return false;
  const spread = kindNamed(root.kind)?.spread;
  if (spread !== 'counts' && spread !== 'ranges') return true;
  const there = clusters.reduce((sum, c) => sum + (shares[c]?.replicas ?? 0), 0);
  return there >= (numberAt(root, 'spec', 'replicas') ?? 1);
}

/**
 * Of the Services and Ingresses before a workload: those that have an address on the cluster that it is to leave, and none
 * on one of its targets.
 */
export function lateAddresses(
  cluster: string,
  targets: readonly string[],
  before: readonly Placement[],
): Late[] {
  return before.flatMap(({ spec, status }) => {
    const hasAddress = (c: string) =>
      listAt(status?.clusters?.[c]?.status, 'loadBalancer', 'ingress').length > 0;
    if (!spec || !hasAddress(cluster)) return [];
    const without = targets.filter((c) => !hasAddress(c));
    return without.map((c) => ({
      who: `${spec.ref.kind} ${spec.ref.name} (no address on ${c})`,
      patient: true,
    }));
  });
}
