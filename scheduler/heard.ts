import type { Client } from '../client/client.ts';
import { parseKey, type ResourceRef } from '../client/url.ts';
import { hasTemplates, isClaimName, isClaimRef } from '../cluster/claims.ts';
import { refOf } from '../cluster/closure.ts';
import { deepEqual } from '../kube/deep.ts';
import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isTimeout, orAborted, within } from '../kube/within.ts';
import type { Decided } from './types.ts';
import { claimsIn } from './within.ts';
import { namespaces, type World } from './world.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };

export interface Reading {
  reader: Client;
  signal: AbortSignal;
  /** How long all that is read for one decision may take; default 5000. */
  readMs?: number | undefined;
}

/** Why not all that is said of data is known. */
export interface Unheard {
  why: string;
  /** It was read, and the watch has yet to tell of it: it is on its way. */
  isLate: boolean;
}

const late: Unheard = { why: 'what was said of its data last is still on its way', isLate: true };
const defaultReadMs = 5_000;
/** Of what others wrote. */
const longest = 300;

/**
 * Of those that leave data, or give it up, by their uids: those of whom our caches have not heard all that is said of it. No watch
 * waits for another: that a cluster is drained may be heard before a `hold` that was written first. What caches held is taken
 * before anything is awaited. What cannot be read, or not in time, leaves those unheard that it is about, and nobody else.
 */
export async function unheardOf(
  key: string,
  leavers: readonly Decided[],
  world: World,
  { reader, signal, readMs = defaultReadMs }: Reading,
): Promise<Map<string, Unheard>> {
  const found = new Map<string, Unheard>();
  if (leavers.length === 0) return found;
  const { cluster, name: namespace } = parseKey(key);
  const isConcerned = concernedBy(leavers);
  const versions = (all: readonly KubeObject[]) =>
    Object.fromEntries(
      all
        .filter(({ metadata: { name = '' } }) => isConcerned(name))
        .map(({ metadata: { name = '', uid, resourceVersion } }) => [name, `${uid}/${resourceVersion}`]),
    );
  const known = versions(claimsIn(world, key, 'all'));
  const home = world.namespaces.get(key);
  const about = (all: readonly Decided[], why: Unheard | undefined) => {
    if (why) for (const { placed } of all) found.set(placed.object.metadata.uid ?? '', why);
  };
  await within(readMs, signal, async (soon) => {
    const find = finder(reader, cluster, soon);
    const asked = (kind: ResourceRef, isHeard: () => Promise<boolean>) =>
      askedOf(kind, { soon, readMs, ended: () => signal.throwIfAborted() }, isHeard);
    const ofClaims = async () => {
      const { items } = await reader.list(claims, { cluster, namespace, signal: soon });
      return deepEqual(versions(items), known);
    };
    const ofHome = async () => saysTheSame(await find(namespaces, { name: namespace }), home);
    const ofKind = async (all: readonly Decided[]) => {
      for (const [index, one] of all.entries()) {
        const { kind, object } = one.placed;
        const { name = '' } = object.metadata;
        const why = await asked(kind, async () => saysTheSame(await find(kind, { namespace, name }), object));
        // Who could not be told of one of them will not be of the next.
        about(why && !why.isLate ? all.slice(index) : [one], why);
        if (why && !why.isLate) return;
      }
    };
    const [ofAll, ofNamespace] = await Promise.all([
      asked(claims, ofClaims),
      asked(namespaces, ofHome),
      ...byKind(leavers).map(ofKind),
    ]);
    const shared = [ofAll, ofNamespace].filter((why) => why !== undefined);
    about(leavers, shared.find(({ isLate }) => !isLate) ?? shared[0]);
  });
  return found;
}

function finder(reader: Client, cluster: string, signal: AbortSignal) {
  return async (resource: ResourceRef, at: { name: string; namespace?: string }) => {
    try {
      return await reader.get(resource, { cluster, ...at }, signal);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
}

function byKind(leavers: readonly Decided[]): Decided[][] {
  const found = new Map<unknown, Decided[]>();
  for (const one of leavers) {
    const { kind } = one.placed;
    if (kind.role === 'workload') found.set(kind, [...(found.get(kind) ?? []), one]);
  }
  return [...found.values()];
}

/** `isHeard`: whether what it reads is what we know. Whatever it fails of is about what it reads, and about nobody else. */
async function askedOf(
  { group, resource }: ResourceRef,
  { soon, readMs, ended }: { soon: AbortSignal; readMs: number; ended(): void },
  isHeard: () => Promise<boolean>,
): Promise<Unheard | undefined> {
  try {
    return (await orAborted(soon, isHeard())) ? undefined : late;
  } catch (error) {
    ended();
    const what = groupResource({ group, resource });
    const said = error instanceof Error ? error.message : String(error);
    const why = isTimeout(soon) ? `no answer within ${readMs / 1000} s` : said.slice(0, longest);
    return { why: `what is said of its data cannot be read: ${what}: ${why}`, isLate: false };
  }
}

/** One that a set makes is no object of ours before it is reflected: it goes by its name. */
function concernedBy(leavers: readonly Decided[]): (claim: string) => boolean {
  const sets = leavers.map(({ placed }) => placed.object).filter(hasTemplates);
  const refs = leavers.flatMap(({ placed, requires }) => [refOf(placed), ...requires]);
  const named = new Set(refs.filter(isClaimRef).map(({ name }) => name));
  return (claim) => named.has(claim) || sets.some((set) => isClaimName(set, claim));
}

/** Their annotations alone: its status changes all the time, and its template says nothing of data that is there. */
function saysTheSame(now: KubeObject | undefined, then: KubeObject | undefined): boolean {
  const words = (object: KubeObject | undefined) => [
    object?.metadata.uid,
    Object.fromEntries(
      Object.entries(object?.metadata.annotations ?? {}).filter(([name]) => name.startsWith('atoll.dev/')),
    ),
  ];
  return deepEqual(words(now), words(then));
}
