import { isClaimName } from '../cluster/claims.ts';
import {
  claimOfAnnotation,
  claimsAnnotation,
  locatorAnnotation,
  logicalClusterAnnotation,
  rootCluster,
} from '../cluster/names.ts';
import { reflectedKind } from '../cluster/reflected.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { listAt } from '../kube/untyped.ts';
import type { Engine } from './engine.ts';
import { readLocator } from './ownership.ts';
import { isYoung, reflectedMetadata } from './reflected.ts';
import { Reflector } from './reflector.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const sets = { group: 'apps', version: 'v1', resource: 'statefulsets' };

/** Made there for a set of ours, and marked as such. */
export function isClaimOfOurs({ uid, former }: Engine, object: KubeObject): boolean {
  const syncer = readLocator(object, claimOfAnnotation)?.syncer;
  return syncer !== undefined && (syncer === uid || former.has(syncer));
}

/** The claims that are there for this set, marked. */
export async function claimsOf(engine: Engine, set: KubeObject): Promise<KubeObject[]> {
  const { namespace } = set.metadata;
  const { items } = await engine.client.list(claims, { namespace, signal: engine.signal });
  return items.filter((claim) => isClaimOfOurs(engine, claim) && isClaimName(set, claim.metadata.name ?? ''));
}

/**
 * Of these those that go with the set: that it alone owns in the logical cluster. What was told there is the latest word, whatever the set
 * here still says; of one that is not shown there yet this says so.
 */
export async function claimsOwned(engine: Engine, set: KubeObject): Promise<KubeObject[]> {
  const all = await claimsOf(engine, set);
  if (all.length === 0) return all;
  const place = engine.namespaces.own(set.metadata.namespace ?? '')?.locator;
  const { items } = await engine.upstream.list(reflectedKind(claims.resource), { signal: engine.signal });
  const here = items.filter(({ metadata: { namespace, annotations } }) => {
    const cluster = annotations?.[logicalClusterAnnotation] ?? rootCluster;
    return namespace === place?.namespace && cluster === place?.cluster;
  });
  const shown = new Map(here.map((claim) => [claim.metadata.name, claim.metadata.ownerReferences ?? []]));
  const uid = readLocator(set)?.uid;
  return all.filter((claim) => {
    const owners = shown.get(claim.metadata.name);
    if (!owners) return isYoung(claim) && set.metadata.annotations?.[claimsAnnotation] === 'Delete';
    return owners.length > 0 && owners.every((owner) => owner.uid === uid);
  });
}

/** Claims of our StatefulSets are shown beside them, also when these have gone. */
export function claimReflector(engine: Engine): Reflector {
  return new Reflector(engine, 'persistentvolumeclaims', async (_key, claim, place) => {
    // What bears a locator stands upstream itself.
    if (!claim || !place || readLocator(claim)) return undefined;
    if (!isClaimOfOurs(engine, claim)) {
      const set = setOf(engine, claim);
      if (set) await markClaim(engine, set, claim);
      return set || isYoung(claim) ? { after: setMs } : undefined;
    }
    return { ...claim, metadata: { ...reflectedMetadata(claim), ...ownedBySet(engine, claim) } };
  });
}

/** Whose they are: what of that owns them is said in its logical cluster, as here they are to outlive it when it is moved. */
function ownedBySet(engine: Engine, claim: KubeObject): { ownerReferences?: OwnerReference[] } {
  const { namespace = '' } = claim.metadata;
  const { name = '', uid = '' } = readLocator(claim, claimOfAnnotation) ?? {};
  const set = engine.physical.cached(sets, namespace, name);
  if (!set || readLocator(set)?.uid !== uid) return {};
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }] };
}

/** The watch of StatefulSets may be behind the one of claims, and this behind what we have written. */
const setMs = 500;

function setOf(
  engine: Engine,
  { metadata: { namespace = '', name = '' } }: KubeObject,
): KubeObject | undefined {
  for (const { kind, object } of engine.physical.inNamespace(namespace)) {
    if (kind.resource !== 'statefulsets' || readLocator(object)?.syncer !== engine.uid) continue;
    if (isClaimName(object, name)) return object;
  }
  return undefined;
}

/** Claims outlive their set: what is to be known of them then must be on them before it goes. */
export async function markClaims(engine: Engine, set: KubeObject): Promise<void> {
  const { client, signal } = engine;
  const { namespace } = set.metadata;
  if (listAt(set, 'spec', 'volumeClaimTemplates').length === 0) return;
  const { items } = await client.list(claims, { namespace, signal });
  for (const claim of items) {
    if (isClaimName(set, claim.metadata.name ?? '')) await markClaim(engine, set, claim);
  }
}

/** What bears a locator is an object of its own upstream, and no business of the set's. */
async function markClaim({ client, signal }: Engine, set: KubeObject, claim: KubeObject): Promise<void> {
  const { namespace, name = '', uid, annotations } = claim.metadata;
  const mark = set.metadata.annotations?.[locatorAnnotation];
  if (mark === undefined || annotations?.[locatorAnnotation]) return;
  if (annotations?.[claimOfAnnotation] === mark) return;
  const body = { metadata: { ...(uid && { uid }), annotations: { [claimOfAnnotation]: mark } } };
  try {
    await client.patch(claims, { namespace, name }, 'merge', body, { signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

export async function removeClaims({ client, signal }: Engine, gone: readonly KubeObject[]): Promise<void> {
  for (const { metadata } of gone) {
    const { namespace, name = '', uid, deletionTimestamp } = metadata;
    if (deletionTimestamp) continue;
    try {
      await client.delete(claims, { namespace, name }, { preconditions: { ...(uid && { uid }) } }, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}
