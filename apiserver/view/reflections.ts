import { logicalClusterAnnotation, reflectedFromAnnotation } from '../../cluster/names.ts';
import { parseClusters } from '../../cluster/placement.ts';
import type { ReflectedKind } from '../../cluster/reflected.ts';
import type { Placement } from '../../cluster/types.ts';
import { deepEqual, getOwn } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflict, forbidden, notFound, type StatusError } from '../../kube/status.ts';
import { type Entry, prefixRange, type Store, StoreError } from '../../storage/store.ts';
import { decode, encode, keys, parse, placeOf } from './codec.ts';
import { type Making, makeReflection } from './reflected.ts';
import { withoutSubsets } from './reflected-endpoints.ts';
import { historyOf, isHistory, noteRevision } from './reflected-history.ts';
import { withoutPart } from './reflected-revision.ts';
import type { SliceAddress } from './slices.ts';

export const maxReflectionBytes = 256 << 10;

/** All objects of a kind that were reflected from this cluster, at one revision. */
export async function listReflections(
  store: Store,
  of: ReflectedKind,
  cluster: string,
): Promise<{ revision: number; items: KubeObject[] }> {
  const needle = Buffer.from(`"${reflectedFromAnnotation}":"`);
  const { entries, revision } = await store.list(prefixRange(keys.collection(of)));
  const reflected = entries.filter(({ value }) =>
    Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(needle),
  );
  const objects = reflected.map((entry) => located(decode(entry), placeOf(entry.key).logical));
  return { revision, items: objects.filter((object) => reflectedFrom(object).includes(cluster)) };
}

/**
 * Creates or replaces the reflection of a physical object. It only ever writes what reflections made, and only
 * where the cluster has a share: a name that is taken is 409, another namespace 403.
 */
export async function putReflection(
  store: Store,
  of: ReflectedKind,
  at: SliceAddress,
  body: Record<string, unknown>,
): Promise<KubeObject> {
  const key = keys.object({ ...of, name: at.name }, at.logical, at.namespace);
  for (;;) {
    const entry = await store.get(key);
    const before = entry && decode(entry);
    const owners = await placedHere(store, of, at);
    if (before && !mayWrite(of, before, at.cluster, owners)) throw taken(of, at, before);
    if (!before) await requireNamespace(store, of, at);
    const object = await makeReflection({ store, of, at, body, before, owners });
    if (before && same(before, object)) return before;
    const written = await attempt(store, key, object, entry);
    if (!written) continue;
    if (of.resource === 'replicasets') await noteRevision(store, at, object);
    return decode(written);
  }
}

/** Of what this cluster reflected only; anything else is not there. Other clusters' part of it stays. */
export async function deleteReflection(
  store: Store,
  of: ReflectedKind,
  at: SliceAddress,
): Promise<KubeObject> {
  for (;;) {
    const entry = await store.get(keys.object({ ...of, name: at.name }, at.logical, at.namespace));
    const before = entry && decode(entry);
    if (!before || !reflectedFrom(before).includes(at.cluster)) throw notFound(of, at.name);
    const rest = await restOf(store, of, at, before);
    try {
      if (!rest) return decode(await store.delete(entry.key, entry.revision));
      return decode(await store.update(entry.key, encode(rest), entry.revision));
    } catch (error) {
      if (!lostRace(error)) throw error;
    }
  }
}

/** What stays when one cluster's part goes. */
async function restOf(
  store: Store,
  of: ReflectedKind,
  at: SliceAddress,
  before: KubeObject,
): Promise<KubeObject | undefined> {
  if (!of.shared) return undefined;
  if (of.kind === 'Endpoints') return withoutSubsets(before, at.cluster);
  return withoutPart(before, at.cluster) ?? (await historyOf(store, of, at, before));
}

async function attempt(
  store: Store,
  key: string,
  object: KubeObject,
  expected: Entry | undefined,
): Promise<Entry | undefined> {
  try {
    const bytes = encode(object);
    return await (expected ? store.update(key, bytes, expected.revision) : store.create(key, bytes));
  } catch (error) {
    if (lostRace(error)) return undefined;
    throw error;
  }
}

function same(before: KubeObject, after: KubeObject): boolean {
  const { resourceVersion: _, ...metadata } = before.metadata;
  const { resourceVersion: __, ...wanted } = after.metadata;
  return deepEqual({ ...before, metadata }, { ...after, metadata: wanted });
}

function located(object: KubeObject, logical: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [logicalClusterAnnotation]: logical };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function lostRace(error: unknown): boolean {
  return error instanceof StoreError && ['conflict', 'missing', 'exists'].includes(error.code);
}

function reflectedFrom(object: KubeObject): string[] {
  return parseClusters(getOwn(object.metadata.annotations ?? {}, reflectedFromAnnotation));
}

function mayWrite(of: ReflectedKind, before: KubeObject, cluster: string, owners: Making['owners']): boolean {
  const whose = reflectedFrom(before);
  return of.shared ? whose.length > 0 || isHistory(before, owners) : whose.includes(cluster);
}

function taken(of: ReflectedKind, at: SliceAddress, object: KubeObject): StatusError {
  const whose = reflectedFrom(object).join(', ');
  return conflict(of, at.name, whose ? `it is reflected from cluster ${whose}` : 'it is not a reflection');
}

/** By the bytes: a namespace's Placements are looked at for each pod that comes, and seldom change. */
const specs = new WeakMap<Uint8Array, Placement['spec']>();

function specOf(bytes: Uint8Array): Placement['spec'] {
  const known = specs.get(bytes);
  if (known) return known;
  const { spec } = parse<Placement>(bytes);
  if (spec) specs.set(bytes, spec);
  return spec;
}

/** The objects that the cluster has a share of in this namespace. Fails with 403 where there are none. */
async function placedHere(store: Store, of: ReflectedKind, at: SliceAddress): Promise<Making['owners']> {
  const { entries } = await store.list(prefixRange(`${keys.placements}${at.logical}/${at.namespace}/`));
  const placed = entries.map((entry) => specOf(entry.value));
  const here = placed.filter((spec) => getOwn(spec?.shares ?? {}, at.cluster) !== undefined);
  if (here.length === 0) throw forbidden(of, at.name, `cluster ${at.cluster} has no share in this namespace`);
  // What was orphaned owns nothing any more, and what it made is still shown.
  const owning = here.flatMap((spec) => (spec && spec.orphaned !== spec.ref.uid ? [spec.ref] : []));
  return new Map(owning.map((ref) => [ref.uid, ref]));
}

async function requireNamespace(store: Store, of: ReflectedKind, at: SliceAddress): Promise<void> {
  const entry = await store.get(keys.namespace(at.logical, at.namespace));
  if (!entry) throw notFound({ group: '', resource: 'namespaces' }, at.namespace);
  if (parse(entry.value).metadata.deletionTimestamp)
    throw forbidden(of, at.name, `namespace ${at.namespace} is being terminated`);
}
