import { randomUUID } from 'node:crypto';
import { logicalClusterAnnotation, reflectedFromAnnotation } from '../../cluster/names.ts';
import type { Placement } from '../../cluster/types.ts';
import { deepEqual, getOwn, isObject } from '../../kube/deep.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/object.ts';
import { conflict, forbidden, notFound, type StatusError } from '../../kube/status.ts';
import { prefixRange, type Store, StoreError } from '../../storage/store.ts';
import { bounded } from './bounds.ts';
import { decode, encode, keys, parse, placeOf } from './codec.ts';
import type { SliceAddress } from './slices.ts';

const resource = { group: '', resource: 'pods' };
export const maxPodBytes = 256 << 10;

/** All pods that were reflected from this cluster, at one revision. */
export async function listPods(
  store: Store,
  cluster: string,
): Promise<{ revision: number; items: KubeObject[] }> {
  const needle = Buffer.from(`"${reflectedFromAnnotation}":${JSON.stringify(cluster)}`);
  const { entries, revision } = await store.list(prefixRange(keys.pods));
  const mine = entries.filter(({ value }) =>
    Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(needle),
  );
  const pods = mine.map((entry) => located(decode(entry), placeOf(entry.key).logical));
  return { revision, items: pods.filter((pod) => reflectedFrom(pod) === cluster) };
}

/**
 * Creates or replaces the reflection of a physical pod. It only ever writes what it made itself, and only where
 * the cluster has a share: a name that is taken is 409, another namespace 403.
 */
export async function putPod(
  store: Store,
  at: SliceAddress,
  body: Record<string, unknown>,
): Promise<KubeObject> {
  const key = keys.pod(at.logical, at.namespace, at.name);
  for (;;) {
    const entry = await store.get(key);
    const before = entry && decode(entry);
    if (before && reflectedFrom(before) !== at.cluster) throw taken(at, before);
    const owners = await placedHere(store, at);
    if (!owners) throw forbidden(resource, at.name, `cluster ${at.cluster} has no share in this namespace`);
    if (!before) await requireNamespace(store, at);
    const pod = reflection(at, body, before, owners);
    if (before && deepEqual({ ...before, metadata: { ...before.metadata, resourceVersion: undefined } }, pod))
      return before;
    try {
      const bytes = encode(pod);
      const written = entry ? await store.update(key, bytes, entry.revision) : await store.create(key, bytes);
      return decode(written);
    } catch (error) {
      if (!lostRace(error)) throw error;
    }
  }
}

/** Of what this cluster reflected only; anything else is not there. */
export async function deletePod(store: Store, at: SliceAddress): Promise<KubeObject> {
  for (;;) {
    const entry = await store.get(keys.pod(at.logical, at.namespace, at.name));
    const before = entry && decode(entry);
    if (!before || reflectedFrom(before) !== at.cluster) throw notFound(resource, at.name);
    try {
      return decode(await store.delete(entry.key, entry.revision));
    } catch (error) {
      if (!lostRace(error)) throw error;
    }
  }
}

function located(pod: KubeObject, logical: string): KubeObject {
  const annotations = { ...pod.metadata.annotations, [logicalClusterAnnotation]: logical };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

function lostRace(error: unknown): boolean {
  return error instanceof StoreError && ['conflict', 'missing', 'exists'].includes(error.code);
}

function reflectedFrom(pod: KubeObject): string | undefined {
  return getOwn(pod.metadata.annotations ?? {}, reflectedFromAnnotation);
}

function taken(at: SliceAddress, pod: KubeObject): StatusError {
  const whose = reflectedFrom(pod);
  return conflict(
    resource,
    at.name,
    whose ? `it is reflected from cluster ${whose}` : 'it is not a reflection',
  );
}

/** The objects that the cluster has a share of in this namespace, by uid; undefined: none. */
async function placedHere(store: Store, at: SliceAddress): Promise<ReadonlySet<string> | undefined> {
  const { entries } = await store.list(prefixRange(`${keys.placements}${at.logical}/${at.namespace}/`));
  const placed = entries.map((entry) => parse<Placement>(entry.value));
  const here = placed.filter((p) => getOwn(p.spec?.shares ?? {}, at.cluster) !== undefined);
  return here.length === 0 ? undefined : new Set(here.flatMap((p) => p.spec?.ref.uid ?? []));
}

async function requireNamespace(store: Store, at: SliceAddress): Promise<void> {
  const entry = await store.get(keys.namespace(at.logical, at.namespace));
  if (!entry) throw notFound({ group: '', resource: 'namespaces' }, at.namespace);
  if (parse(entry.value).metadata.deletionTimestamp)
    throw forbidden(resource, at.name, `namespace ${at.namespace} is being terminated`);
}

function reflection(
  at: SliceAddress,
  body: Record<string, unknown>,
  before: KubeObject | undefined,
  owners: ReadonlySet<string>,
): KubeObject {
  const told = isObject(body['metadata']) ? body['metadata'] : {};
  const annotations = { ...texts(told['annotations']), [reflectedFromAnnotation]: at.cluster };
  const created = time(told['creationTimestamp']) ?? new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const deleted = time(told['deletionTimestamp']);
  const grace = told['deletionGracePeriodSeconds'];
  const references = ownerReferences(told['ownerReferences'], owners);
  const metadata: ObjectMeta = {
    name: at.name,
    namespace: at.namespace,
    uid: before?.metadata.uid ?? randomUUID(),
    creationTimestamp: before?.metadata.creationTimestamp ?? created,
    ...(deleted && { deletionTimestamp: deleted }),
    ...(deleted && { deletionGracePeriodSeconds: typeof grace === 'number' ? Math.max(0, grace) : 0 }),
    labels: texts(told['labels']),
    annotations,
    ...(references.length > 0 && { ownerReferences: references }),
  };
  const spec = isObject(body['spec']) ? body['spec'] : {};
  const status = bounded(isObject(body['status']) ? body['status'] : {});
  return { kind: 'Pod', apiVersion: 'v1', metadata, spec, status };
}

function texts(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([k, v]) => (typeof v === 'string' ? [[k, v]] : [])),
  );
}

/** Only objects that the cluster really runs may own what it reflects. */
function ownerReferences(value: unknown, owners: ReadonlySet<string>): OwnerReference[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap(({ apiVersion, kind, name, uid }) => {
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return [];
    if (typeof uid !== 'string' || !owners.has(uid)) return [];
    return [{ apiVersion, kind, name, uid, controller: true }];
  });
}

function time(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? value : undefined;
}
