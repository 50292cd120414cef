import { givenNote } from '../../cluster/given.ts';
import { withoutMarks } from '../../cluster/marks.ts';
import { isReflected, type ReflectedKind } from '../../cluster/reflected.ts';
import { revisionAnnotation, revisionOf } from '../../cluster/refused-revision.ts';
import type { ObjectRef, Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { getOwn, isRecord, numberAt } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { listEntries, readObject } from '../registry/rewrite.ts';
import type { Registry } from '../registry/types.ts';
import { addressIn, placementsStored } from './places.ts';
import { controllerOf, reflectedBeside } from './reflected-revision.ts';
import type { SliceAddress } from './slices.ts';

/**
 * A workload that leaves a cluster takes its revisions with it: the last reflection of one becomes the logical
 * cluster's own, owned by the workload, so that `kubectl rollout undo` works after a move. Undefined: it goes,
 * because its workload is gone, or because the workload's controller dropped it.
 */
export async function historyOf(
  store: Store,
  kind: ReflectedKind,
  address: SliceAddress,
  before: KubeObject,
): Promise<KubeObject | undefined> {
  const owner = controllerOf(before);
  const placement = owner === undefined ? undefined : await placementOf(store, address, owner);
  if (!placement?.spec) return undefined;
  const share = getOwn(placement.spec.shares ?? {}, address.cluster);
  if (share && share.phase !== 'Leaving') return undefined;
  const workload = await readObject(store, addressIn(address, placement.spec.ref));
  if (!workload || workload.metadata.uid !== owner || workload.metadata.deletionTimestamp) return undefined;
  const limit = numberAt(workload, 'spec', 'revisionHistoryLimit') ?? 10;
  if (!(await isAmongNewest(store, kind, address, before, limit))) return undefined;
  return retired(before);
}

/** One that became history, and whose workload the cluster has a share of again. */
export function isHistory(object: KubeObject, owners: ReadonlyMap<string, ObjectRef>): boolean {
  return !isReflected(object) && owners.has(controllerOf(object) ?? '');
}

/**
 * Which revision the Deployment is at, noted as its own controller notes it on one cluster: with its status, which
 * begins no new generation.
 */
export async function noteRevision(
  registry: Registry,
  address: SliceAddress,
  set: KubeObject,
): Promise<void> {
  const owner = set.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== 'Deployment') return;
  const revision = revisionOf(set);
  const { logical: cluster, namespace } = address;
  const place = { cluster, namespace, group: 'apps', resource: 'deployments', name: owner.name };
  const note = (root: KubeObject): KubeObject => {
    const { metadata } = root;
    if (metadata.uid !== owner.uid || revisionOf(root) >= revision) return root;
    const annotations = { ...metadata.annotations, [revisionAnnotation]: String(revision) };
    return { ...root, metadata: { ...metadata, annotations } };
  };
  try {
    await registry.update(place, note, { subresource: 'status' });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

async function placementOf(store: Store, address: SliceAddress, uid: string): Promise<Placement | undefined> {
  const { entries } = await listEntries(store, {
    resource: placementsStored,
    cluster: address.logical,
    namespace: address.namespace,
  });
  return entries.map((entry) => decodeStored(entry) as Placement).find(({ spec }) => spec?.ref.uid === uid);
}

async function isAmongNewest(
  store: Store,
  kind: ReflectedKind,
  address: SliceAddress,
  object: KubeObject,
  limit: number,
): Promise<boolean> {
  const beside = await reflectedBeside(store, kind, address, controllerOf(object) ?? '');
  const newer = beside.filter((other) => revisionOf(other) > revisionOf(object));
  // The newest is the present one, which the limit does not count.
  return newer.length <= limit;
}

function retired(object: KubeObject): KubeObject {
  const annotations = { ...withoutMarks(object.metadata.annotations), ...givenNote(object) };
  const metadata = { ...object.metadata, annotations };
  if (object.kind !== 'ReplicaSet') return { ...object, metadata };
  const spec = isRecord(object.spec) ? object.spec : {};
  return { ...object, metadata, spec: { ...spec, replicas: 0 }, status: { replicas: 0 } };
}
