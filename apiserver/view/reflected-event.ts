import { placedKinds } from '../../cluster/kinds.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import { isRecord, textAt } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { keyOf, type ObjectAddress, readObject } from '../registry/rewrite.ts';
import { bounded } from './bounds.ts';
import type { Making } from './making.ts';
import { addressIn } from './places.ts';

const taken = [
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'series',
  'action',
  'reportingComponent',
  'reportingInstance',
];

/**
 * An Event about something that the cluster runs for this namespace; it says which by the uid that this thing has
 * here, by which `kubectl describe` finds it. Fails with 404 when it is about anything else, or not here yet.
 */
export async function eventFrom(making: Making, event: KubeObject): Promise<KubeObject> {
  const { address, body } = making;
  const about = isRecord(body['involvedObject']) ? body['involvedObject'] : {};
  const { apiVersion, kind, name, fieldPath } = about;
  const uid = await uidHere(making, textAt(about, 'apiVersion') ?? '', textAt(about, 'kind') ?? '', name);
  const involvedObject = {
    kind,
    namespace: address.namespace,
    name,
    uid,
    apiVersion,
    ...(typeof fieldPath === 'string' && { fieldPath }),
  };
  const rest = taken
    .filter((field) => body[field] !== undefined)
    .map((field) => [field, bounded(body[field])]);
  return { ...event, involvedObject, ...Object.fromEntries(rest) };
}

async function uidHere(
  { store, kind: reflected, address, owners }: Making,
  apiVersion: string,
  kind: string,
  name: unknown,
): Promise<string> {
  const { group } = parseApiVersion(apiVersion);
  const placed = placedKinds.find((one) => one.kind === kind && one.group === group);
  if (!placed) {
    const ruled = [...owners.values()].find(
      (ref) => ref.rule && ref.kind === kind && ref.group === group && ref.name === name,
    );
    if (!ruled) throw notFound(reflected, address.name);
    return ruled.uid;
  }
  if (typeof name !== 'string' || name.includes('/')) throw notFound(reflected, address.name);
  const at = addressIn(address, { ...placed, name });
  const seen = uidSeen(store, at);
  if (seen !== undefined && owners.has(seen)) return seen;
  const object = await readObject(store, at);
  const uid = object?.metadata.uid ?? '';
  const from = object ? reflectedFrom(object) : [];
  if (!owners.has(uid) && !from.includes(address.cluster)) throw notFound(placed, name);
  return uid;
}

/** What the cluster has a share of may have been seen here last: that it does proves that it is meant. */
function uidSeen(store: Store, at: ObjectAddress): string | undefined {
  const seen = store.seen?.(keyOf(at));
  return seen && shownStored(seen).metadata.uid;
}
