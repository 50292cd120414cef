import { givenOwners } from '../../cluster/given-owners.ts';
import { heldAnnotation } from '../../cluster/names.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';

/** They say how something is deleted, which is done where it runs. */
const ofDeletion = new Set(['orphan', 'foregroundDeletion']);

/** What holds a reflected object here: somebody here has said so, since no cluster says it. */
export function finalizersOf(before: KubeObject | undefined): string[] {
  return (before?.metadata.finalizers ?? []).filter((name) => !ofDeletion.has(name));
}

/**
 * With owners that somebody here has given it beside `made`, which is what a cluster says of who controls it. What was noted there of the
 * others is heard where nothing is known of them here: a late word brings back none that was taken away since.
 */
export function withUsersOwners(
  made: readonly OwnerReference[],
  before: KubeObject | undefined,
  noted: readonly OwnerReference[],
): OwnerReference[] {
  const known = new Set(made.map(({ uid }) => uid));
  const given = before ? givenOwners(before) : noted;
  return [...made, ...given.filter(({ uid }) => !known.has(uid))];
}

/** What is left of one that no cluster has any more: undefined, unless a finalizer holds it. */
export function heldHere(before: KubeObject): KubeObject | undefined {
  const finalizers = finalizersOf(before);
  if (finalizers.length === 0) return undefined;
  const { uid = '', deletionTimestamp = timestamp(), annotations } = before.metadata;
  const metadata = {
    ...before.metadata,
    deletionTimestamp,
    deletionGracePeriodSeconds: 0,
    finalizers,
    annotations: { ...annotations, [heldAnnotation]: uid },
  };
  return { ...before, metadata };
}
