import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { type Entry, prefixRange, type Store, StoreError } from '../../../storage/store.ts';
import { decodeStored } from '../codec.ts';
import { collectionRange, internalPrefix, objectKey, parseKey } from '../keys.ts';
import type { ObjectRegistry } from '../types.ts';
import type { KindWrite } from './hooks.ts';

const services = { group: '', resource: 'services', namespaced: true };

interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ports?: { nodePort?: number }[];
  healthCheckNodePort?: number;
}

/**
 * What only one Service of a logical cluster may have, and how to see what a Service has. Whoever allocates from a
 * pool keeps these rules, so that any number of servers on one store allocate at once:
 *
 * - A value is claimed (`claim`) in the `prepare` hook, before the Service that has it is written: a key of its own
 *   in the store, which only one create can win. What was looked up in a list may be taken by then.
 * - The write that fails gives back what it claimed; a write that took a value away from a Service gives it back
 *   after it is durable. Both happen in write.ts and delete.ts, from what `pools` sees: no allocator does it.
 * - A server that dies between claim and write leaves a claim without a Service: it may be taken over after
 *   `orphanMs`, when no request that made it can still be under way.
 */
const pools = {
  clusterips: ({ type, clusterIP, clusterIPs }: ServiceSpec): string[] =>
    type === 'ExternalName'
      ? []
      : [...new Set([clusterIP ?? '', ...(clusterIPs ?? [])])].filter((ip) => ip !== '' && ip !== 'None'),
  nodeports: ({ ports, healthCheckNodePort }: ServiceSpec): string[] =>
    [...(ports ?? []).map((port) => port.nodePort ?? 0), healthCheckNodePort ?? 0]
      .filter((port) => port > 0)
      .map(String),
} as const;

export type Pool = keyof typeof pools;

interface Holder {
  namespace: string;
  name: string;
  uid: string;
  /** Milliseconds since 1970. */
  at: number;
}

const orphanMs = 10 * 60_000;

/** True: `value` is the object's, unless the write fails. Of a dry run: it could be. */
export async function claim(
  write: KindWrite,
  pool: Pool,
  value: string,
  object: KubeObject,
): Promise<boolean> {
  const { store } = write.registry;
  const key = claimKey(pool, write.cluster, value);
  const there = await store.get(key);
  if (write.dryRun) return there === undefined || (await isFree(store, write.cluster, pool, there, object));
  const bytes = encode(object);
  try {
    if (there === undefined) {
      write.claims.push(await store.create(key, bytes));
    } else {
      if (holderOf(there).uid === object.metadata.uid) return true;
      if (!(await isFree(store, write.cluster, pool, there, object))) return false;
      write.claims.push(await store.update(key, bytes, there.revision));
    }
    return true;
  } catch (error) {
    if (error instanceof StoreError && ['exists', 'conflict', 'missing'].includes(error.code)) return false;
    throw error;
  }
}

/** Gives back what a failed write had claimed, unless `error` leaves open whether it happened. */
export async function unclaim(write: KindWrite, error: unknown): Promise<void> {
  if (write.claims.length === 0) return;
  if (write.asked && error instanceof StatusError && (error.code === 500 || error.code === 503)) return;
  for (const { key, revision } of write.claims.splice(0)) {
    await write.registry.store.delete(key, revision).catch(() => undefined);
  }
}

/** Gives back what a Service had and no longer has. What fails is taken over when somebody wants it. */
export async function releaseClaims(
  write: KindWrite,
  old: KubeObject | undefined,
  object: KubeObject | undefined,
): Promise<void> {
  const { store } = write.registry;
  for (const [pool, value] of held(old)) {
    if (held(object).some(([p, v]) => p === pool && v === value)) continue;
    const entry = await store.get(claimKey(pool, write.cluster, value)).catch(() => undefined);
    if (entry === undefined || holderOf(entry).uid !== old?.metadata.uid) continue;
    await store.delete(entry.key, entry.revision).catch(() => undefined);
  }
}

/** Claims what Services have that were written before there were claims, or restored from such a backup. */
export async function claimExisting({ store }: ObjectRegistry): Promise<void> {
  const all = await store.list(collectionRange(services, '*', ''));
  const claimed = new Set<string>();
  for (const pool of Object.keys(pools)) {
    for (const { key } of (await store.list(prefixRange(`${internalPrefix}${pool}/`))).entries)
      claimed.add(key);
  }
  for (const entry of all.entries) {
    const object = decodeStored(entry);
    for (const [pool, value] of held(object)) {
      const key = claimKey(pool, parseKey(services, entry.key).cluster, value);
      if (!claimed.has(key)) await store.create(key, encode(object)).catch(ignoreExists);
    }
  }
}

function claimKey(pool: Pool, cluster: string, value: string): string {
  return `${internalPrefix}${pool}/${cluster}/${value}`;
}

function encode({ metadata }: KubeObject): Uint8Array {
  const { namespace = '', name = '', uid = '' } = metadata;
  return Buffer.from(JSON.stringify({ namespace, name, uid, at: Date.now() } satisfies Holder));
}

function holderOf(entry: Entry): Holder {
  return JSON.parse(Buffer.from(entry.value).toString()) as Holder;
}

function held(object: KubeObject | undefined): [Pool, string][] {
  if (object === undefined) return [];
  const spec = (object.spec ?? {}) as ServiceSpec;
  return (Object.keys(pools) as Pool[]).flatMap((pool) =>
    pools[pool](spec).map((value): [Pool, string] => [pool, value]),
  );
}

/** The Service that claimed it is gone or has it no longer, and no request that made the claim is under way. */
async function isFree(
  store: Store,
  cluster: string,
  pool: Pool,
  entry: Entry,
  object: KubeObject,
): Promise<boolean> {
  const holder = holderOf(entry);
  if (holder.uid === object.metadata.uid) return true;
  if (Date.now() - holder.at < orphanMs) return false;
  const there = await store.get(objectKey(services, cluster, holder.namespace, holder.name));
  if (there === undefined) return true;
  const service = decodeStored(there);
  const value = entry.key.slice(entry.key.lastIndexOf('/') + 1);
  return service.metadata.uid !== holder.uid || !held(service).some(([p, v]) => p === pool && v === value);
}

function ignoreExists(error: unknown): void {
  if (!(error instanceof StoreError && error.code === 'exists')) throw error;
}
