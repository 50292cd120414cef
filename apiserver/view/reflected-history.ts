import { reflectedFromAnnotation, reflectedPartsAnnotation } from '../../cluster/names.ts';
import { numberAt } from '../../cluster/read.ts';
import type { ReflectedKind } from '../../cluster/reflected.ts';
import type { ObjectRef, Placement } from '../../cluster/types.ts';
import { getOwn, isObject } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { prefixRange, type Store, StoreError } from '../../storage/store.ts';
import { decode, encode, keys, parse } from './codec.ts';
import { controllerOf, revisionAnnotation, revisionOf } from './reflected-revision.ts';
import type { SliceAddress } from './slices.ts';

/**
 * A workload that leaves a cluster takes its revisions with it: the last reflection of one becomes the logical
 * cluster's own, owned by the workload, so that `kubectl rollout undo` works after a move. Undefined: it goes,
 * because its workload is gone, or because the workload's controller dropped it.
 */
export async function historyOf(
  store: Store,
  of: ReflectedKind,
  at: SliceAddress,
  before: KubeObject,
): Promise<KubeObject | undefined> {
  const owner = controllerOf(before);
  const placement = owner === undefined ? undefined : await placementOf(store, at, owner);
  if (!placement?.spec) return undefined;
  const share = getOwn(placement.spec.shares ?? {}, at.cluster);
  if (share && share.phase !== 'Leaving') return undefined;
  const root = await store.get(keys.object(placement.spec.ref, at.logical, at.namespace));
  const workload = root && parse(root.value);
  if (!workload || workload.metadata.uid !== owner || workload.metadata.deletionTimestamp) return undefined;
  const limit = numberAt(workload, 'spec', 'revisionHistoryLimit') ?? 10;
  if (!(await isAmongNewest(store, of, at, before, limit))) return undefined;
  return retired(before);
}

/** One that became history, and whose workload the cluster has a share of again. */
export function isHistory(object: KubeObject, owners: ReadonlyMap<string, ObjectRef>): boolean {
  return (
    object.metadata.annotations?.[reflectedFromAnnotation] === undefined &&
    owners.has(controllerOf(object) ?? '')
  );
}

/** As the Deployment's own controller notes it there: which revision it is at. */
export async function noteRevision(store: Store, at: SliceAddress, set: KubeObject): Promise<void> {
  const owner = set.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== 'Deployment') return;
  const revision = revisionOf(set);
  const ref = { group: 'apps', resource: 'deployments', name: owner.name };
  for (;;) {
    const entry = await store.get(keys.object(ref, at.logical, at.namespace));
    const root = entry && decode(entry);
    if (!root || root.metadata.uid !== owner.uid || revisionOf(root) >= revision) return;
    const annotations = { ...root.metadata.annotations, [revisionAnnotation]: String(revision) };
    try {
      await store.update(
        entry.key,
        encode({ ...root, metadata: { ...root.metadata, annotations } }),
        entry.revision,
      );
      return;
    } catch (error) {
      if (!(error instanceof StoreError && (error.code === 'conflict' || error.code === 'missing')))
        throw error;
    }
  }
}

async function placementOf(store: Store, at: SliceAddress, uid: string): Promise<Placement | undefined> {
  const { entries } = await store.list(prefixRange(`${keys.placements}${at.logical}/${at.namespace}/`));
  return entries.map(({ value }) => parse<Placement>(value)).find(({ spec }) => spec?.ref.uid === uid);
}

async function isAmongNewest(
  store: Store,
  of: ReflectedKind,
  at: SliceAddress,
  object: KubeObject,
  limit: number,
): Promise<boolean> {
  const owner = controllerOf(object);
  const { entries } = await store.list(prefixRange(`${keys.collection(of)}${at.logical}/${at.namespace}/`));
  const newer = entries
    .map(({ value }) => parse(value))
    .filter((other) => controllerOf(other) === owner && revisionOf(other) > revisionOf(object));
  // The newest is the present one, which the limit does not count.
  return newer.length <= limit;
}

function retired(object: KubeObject): KubeObject {
  const {
    [reflectedFromAnnotation]: _,
    [reflectedPartsAnnotation]: __,
    ...annotations
  } = object.metadata.annotations ?? {};
  const metadata = { ...object.metadata, annotations };
  if (object.kind !== 'ReplicaSet') return { ...object, metadata };
  const spec = isObject(object.spec) ? object.spec : {};
  return { ...object, metadata, spec: { ...spec, replicas: 0 }, status: { replicas: 0 } };
}
