import { givenNote } from '../../cluster/given.ts';
import { withoutMarks } from '../../cluster/marks.ts';
import { isReflected, type ReflectedKind } from '../../cluster/reflected.ts';
import { revisionOf } from '../../cluster/revision.ts';
import type { ObjectRef, Placement } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { getOwn, isRecord, numberAt } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { readObject } from '../registry/rewrite.ts';
import { type Controlled, controllerOf } from './controlled.ts';
import { placementNamed, placementOfOwner } from './placement-of.ts';
import { addressIn } from './places.ts';
import { withoutEnd } from './reflected-revision.ts';
import type { SliceAddress } from './slices.ts';

const services = { group: '', resource: 'services' };

/**
 * A workload that leaves a cluster takes its revisions with it: the last reflection of one becomes the logical
 * cluster's own, owned by the workload, so that `kubectl rollout undo` works after a move. Undefined: it goes,
 * because its workload is gone, or because the workload's controller dropped it.
 */
export async function historyOf(
  { store, controlled }: { store: Store; controlled: Controlled },
  kind: ReflectedKind,
  address: SliceAddress,
  before: KubeObject,
): Promise<KubeObject | undefined> {
  const owner = controllerOf(before);
  const placement = await placementOf(store, address, before);
  if (!placement?.spec || isToRun(placement, address.cluster)) return undefined;
  const workload = await readObject(store, addressIn(address, placement.spec.ref));
  if (!workload || workload.metadata.uid !== owner || workload.metadata.deletionTimestamp) return undefined;
  const limit = numberAt(workload, 'spec', 'revisionHistoryLimit') ?? 10;
  if (!(await isAmongNewest(controlled, kind, address, before, limit))) return undefined;
  return retired(withoutEnd(before));
}

/** One that became history, and whose workload the cluster has a share of again. */
export function isHistory(object: KubeObject, owners: ReadonlyMap<string, ObjectRef>): boolean {
  return !isReflected(object) && owners.has(controllerOf(object) ?? '');
}

/** One that nobody controls, as out of a backup: the workload whose revision it is adopts it, as its controller does on Kubernetes. */
export function isOrphanOf(object: KubeObject, body: Record<string, unknown>): boolean {
  const isFree = !isReflected(object) && controllerOf(object) === undefined;
  const stays = isFree && object.metadata.deletionTimestamp === undefined;
  return object.kind === 'ControllerRevision' && stays && deepEqual(object['data'], body['data']);
}

/** Whether the cluster is to run, as before, whose it is: what it made of that may be made anew. */
export async function mayComeAgain(
  store: Store,
  address: SliceAddress,
  before: KubeObject,
): Promise<boolean> {
  const placement = await placementOf(store, address, before);
  return placement !== undefined && isToRun(placement, address.cluster);
}

function isToRun({ spec }: Placement, cluster: string): boolean {
  const share = getOwn(spec?.shares ?? {}, cluster);
  return share !== undefined && share.phase !== 'Leaving';
}

/** Of what controls it; of Endpoints, of their Service. */
async function placementOf(
  store: Store,
  address: SliceAddress,
  { kind, metadata: { name = '', ownerReferences = [] } }: KubeObject,
): Promise<Placement | undefined> {
  if (kind === 'Endpoints') return await placementNamed(store, address, { ...services, name });
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return owner && (await placementOfOwner(store, address, owner));
}

async function isAmongNewest(
  controlled: Controlled,
  kind: ReflectedKind,
  address: SliceAddress,
  object: KubeObject,
  limit: number,
): Promise<boolean> {
  const beside = await controlled.of(kind, address, controllerOf(object) ?? '');
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
