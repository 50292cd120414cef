import type { OwnerReference } from '../../kube/object.ts';
import { foregroundFinalizer, orphanFinalizer } from './graph.ts';

/** `waiting`: the owner is there only until its dependents are gone. */
export type OwnerState = 'present' | 'gone' | 'waiting';

export interface Item {
  deleting: boolean;
  finalizers: readonly string[];
  owners: readonly OwnerReference[];
}

export interface Dependents {
  any: boolean;
  /** One that names the item in an ownerReference with blockOwnerDeletion. */
  blocking: boolean;
  /** One that itself waits for its dependents: perhaps a circle. */
  waiting: boolean;
}

export type Step =
  | { do: 'nothing' }
  /** Takes the item out of all its dependents' ownerReferences, notes it in its Placement, drops the orphan finalizer. */
  | { do: 'orphanDependents' }
  /** Has the dependents deleted; their end wakes the item again. */
  | { do: 'deleteDependents' }
  | { do: 'dropFinalizer' }
  | { do: 'dropOwners'; uids: string[] }
  | { do: 'delete'; policy: 'Background' | 'Foreground' | 'Orphan'; unblock: boolean };

/**
 * What garbage collection does about one object.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
export function decide(
  item: Item,
  dependents: Dependents,
  stateOf: (owner: OwnerReference) => OwnerState,
): Step {
  if (item.deleting) {
    if (item.finalizers.includes(orphanFinalizer)) return { do: 'orphanDependents' };
    if (!item.finalizers.includes(foregroundFinalizer)) return { do: 'nothing' };
    return { do: dependents.blocking ? 'deleteDependents' : 'dropFinalizer' };
  }
  const states = item.owners.map((owner) => ({ uid: owner.uid, state: stateOf(owner) }));
  const leaving = states.filter(({ state }) => state !== 'present').map(({ uid }) => uid);
  if (leaving.length === 0) return { do: 'nothing' };
  // Somebody still owns it: only the references to the others go.
  if (leaving.length < states.length) return { do: 'dropOwners', uids: leaving };
  if (states.some(({ state }) => state === 'waiting') && dependents.any) {
    return { do: 'delete', policy: 'Foreground', unblock: dependents.waiting };
  }
  if (item.finalizers.includes(orphanFinalizer)) return { do: 'delete', policy: 'Orphan', unblock: false };
  const foreground = item.finalizers.includes(foregroundFinalizer);
  return { do: 'delete', policy: foreground ? 'Foreground' : 'Background', unblock: false };
}
