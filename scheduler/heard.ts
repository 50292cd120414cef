import type { Client } from '../client/client.ts';
import { parseKey, type ResourceRef } from '../client/url.ts';
import { hasTemplates, isClaimName, isClaimRef } from '../cluster/claims.ts';
import { refOf } from '../cluster/closure.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Decided } from './types.ts';
import { claimsIn, namespaces, type World } from './world.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };

export interface Reading {
  reader: Client;
  signal: AbortSignal;
}

/**
 * Whether our caches have heard all that is said of the data that these leave, or give up. No watch waits for another: that a
 * cluster is drained may be heard before a `hold` that was written first. What caches held is taken before anything is awaited.
 */
export async function hasHeard(
  key: string,
  leavers: readonly Decided[],
  world: World,
  { reader, signal }: Reading,
): Promise<boolean> {
  if (leavers.length === 0) return true;
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
  const find = async (resource: ResourceRef, at: { name: string; namespace?: string }) => {
    try {
      return await reader.get(resource, { cluster, ...at }, signal);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  const { items } = await reader.list(claims, { cluster, namespace, signal });
  if (!deepEqual(versions(items), known)) return false;
  if (!saysTheSame(await find(namespaces, { name: namespace }), home)) return false;
  for (const { placed } of leavers) {
    if (placed.kind.role !== 'workload') continue;
    const { name = '' } = placed.object.metadata;
    if (!saysTheSame(await find(placed.kind, { namespace, name }), placed.object)) return false;
  }
  return true;
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
