import { givenOwners, ownersNote } from '../../../cluster/given-owners.ts';
import { givenOwnersAnnotation } from '../../../cluster/names.ts';
import { deepEqual } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { record } from '../../../kube/untyped.ts';
import type { PodRoute } from '../../plugins.ts';

/** Of a pod's metadata where it runs, as a strategic merge patch has it. */
interface OwnersPatch {
  annotations: Record<string, string | null>;
  ownerReferences?: object[];
}

/**
 * Owners that somebody gives a pod own it where it runs, too, under the uids that they have there: else it would go there with its
 * controller. All are noted on it, for those that come there later. Undefined: they stay as they are.
 */
export async function ownersPatch(
  { ownersThere }: PodRoute,
  before: KubeObject,
  after: KubeObject,
): Promise<OwnersPatch | undefined> {
  const [was, is] = [givenOwners(before), givenOwners(after)];
  if (deepEqual(was, is)) return undefined;
  const taken = was.filter(({ uid }) => !is.some((owner) => owner.uid === uid));
  const given = is.filter((owner) => !was.some((other) => deepEqual(owner, other)));
  const there = async (owners: typeof was) =>
    owners.length > 0 ? ((await ownersThere?.(owners)) ?? []) : [];
  const gone = (await there(taken)).map(({ uid }) => ({ $patch: 'delete', uid }));
  const ownerReferences = [...(await there(given)), ...gone];
  return {
    annotations: { [givenOwnersAnnotation]: ownersNote(is) },
    ...(ownerReferences.length > 0 && { ownerReferences }),
  };
}

export function withOwners(patch: object | undefined, owners: OwnersPatch): object {
  const { metadata, ...rest } = record(patch);
  const { annotations, ...others } = record(metadata);
  const all = { ...record(annotations), ...owners.annotations };
  return { ...rest, metadata: { ...others, ...owners, annotations: all } };
}
