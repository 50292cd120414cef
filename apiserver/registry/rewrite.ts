import { deepEqual } from '../../kube/deep.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflict, staleObject } from '../../kube/status.ts';
import { type Entry, type ListOptions, type Store, StoreError } from '../../storage/store.ts';
import { asStored, decodeStored, written } from './codec.ts';
import { translate, translated } from './errors.ts';
import { collectionRange, type KeyParts, objectKey, type StoredAs } from './keys.ts';
import { isStale } from './stale.ts';

/** One object of a kind. */
export interface ObjectAddress extends KeyParts {
  resource: StoredAs;
}

export async function readObject<T extends KubeObject = KubeObject>(
  store: Store,
  address: ObjectAddress,
  options: { revision?: number } = {},
): Promise<T | undefined> {
  const entry = await translated(store.get(keyOf(address), options), address.resource, address.name);
  return entry && (decodeStored(entry) as T);
}

/** Of a namespace, or with `*` of all logical clusters. */
export async function listEntries(
  store: Store,
  scope: { resource: StoredAs; cluster: string; namespace: string },
  options: ListOptions = {},
): Promise<{ entries: readonly Entry[]; revision: number }> {
  const range = collectionRange(scope.resource, scope.cluster, scope.namespace);
  return await translated(store.list(range, options), scope.resource);
}

const mostTries = 100;

/**
 * How the server itself writes what no client may, such as reflections and slices: past admission, defaults and
 * validation. `change` gets the object as it is, or none, and answers what is to be there, or none; it is asked
 * again when somebody wrote in between. What changes nothing is not written. Answers what is there then, or what
 * was deleted. Who `guesses` begins with what this process saw last: see updateObject; and whose object `isNew`, as far as they know, with none.
 */
export async function rewriteObject<T extends KubeObject = KubeObject>(
  store: Store,
  address: ObjectAddress,
  change: (before: T | undefined) => Later<T | undefined>,
  { guesses = false, isNew = false } = {},
): Promise<T | undefined> {
  const { resource, name } = address;
  const made =
    (guesses && (await guessed(store, address, change))) || (isNew && (await begun(store, address, change)));
  if (made) return made;
  for (let tries = 0; tries < mostTries; tries++) {
    const entry = await translated(store.get(keyOf(address)), resource, name);
    const before = entry && (decodeStored(entry) as T);
    const after = await change(before);
    const stale = entry !== undefined && isStale(entry);
    if (before === after || (!stale && before && after && isSame(before, after))) return before;
    try {
      return (await write(store, keyOf(address), entry, after)) as T;
    } catch (error) {
      if (!lostRace(error)) throw translate(error, resource, name);
    }
  }
  throw conflict(resource, name, staleObject);
}

/** Over what this process saw last of it, which costs no question. Undefined: it is to be read. */
async function guessed<T extends KubeObject>(
  store: Store,
  address: ObjectAddress,
  change: (before: T | undefined) => Later<T | undefined>,
): Promise<T | undefined> {
  const seen = store.seen?.(keyOf(address));
  if (!seen) return undefined;
  let after: T | undefined;
  try {
    const before = decodeStored(seen) as T;
    after = await change(before);
    if (after === undefined || before === after || isSame(before, after)) return undefined;
  } catch {
    return undefined;
  }
  return await tried(store, address, seen, after);
}

/** Where there is none. Undefined: it is to be read. */
async function begun<T extends KubeObject>(
  store: Store,
  address: ObjectAddress,
  change: (before: T | undefined) => Later<T | undefined>,
): Promise<T | undefined> {
  let after: T | undefined;
  try {
    after = await change(undefined);
  } catch {
    return undefined;
  }
  return after && (await tried<T>(store, address, undefined, after));
}

/** Undefined: it is not as it was taken to be. */
async function tried<T extends KubeObject>(
  store: Store,
  address: ObjectAddress,
  expected: Entry | undefined,
  after: T,
): Promise<T | undefined> {
  try {
    return (await write(store, keyOf(address), expected, after)) as T;
  } catch (error) {
    if (lostRace(error)) return undefined;
    throw translate(error, address.resource, address.name);
  }
}

async function write(
  store: Store,
  key: string,
  expected: Entry | undefined,
  after: KubeObject | undefined,
): Promise<KubeObject> {
  if (after === undefined) return decodeStored(await store.delete(key, expected?.revision ?? 0));
  const entry = await written(key, after, (bytes) =>
    expected ? store.update(key, bytes, expected.revision) : store.create(key, bytes),
  );
  return asStored(after, entry);
}

function isSame(before: KubeObject, after: KubeObject): boolean {
  const { resourceVersion } = before.metadata;
  return deepEqual(before, { ...after, metadata: { ...after.metadata, resourceVersion } });
}

export function keyOf({ resource, cluster, namespace, name }: ObjectAddress): string {
  return objectKey(resource, cluster, namespace, name);
}

function lostRace(error: unknown): boolean {
  return error instanceof StoreError && ['conflict', 'missing', 'exists'].includes(error.code);
}
