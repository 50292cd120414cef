import { absenceOf } from '../client/errors.ts';
import { pathOf, queryOf } from '../client/url.ts';
import { type PlacedKind, placedKind, placedKinds } from '../cluster/kinds.ts';
import { isDefaultAccount, isPlaceable } from '../cluster/placeable.ts';
import type { Locator } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isAccountToken } from './account-secret.ts';
import { isClaimOfOurs, removeClaims } from './claims.ts';
import type { Engine } from './engine.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
/** Nobody tells when a Namespace that is going has gone. */
const lookMs = 2_000;

/**
 * Removes our namespaces that nothing uses any more: at once, and with the claims that our workloads made, where the
 * Namespace that it was made for is gone; else after `delayMs` without use, if no claims are there. One in which somebody
 * else keeps something stays: deleting it would delete that too.
 */
export function startCleanup(delayMs: number): {
  add(namespace: string): void;
  run(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void>;
} {
  const queue = new WorkQueue();
  const unusedSince = new Map<string, number>();
  const reconcile = async (engine: Engine, name: string): Promise<Retry | undefined> => {
    const own = engine.namespaces.own(name);
    if (!own || own.object.metadata.deletionTimestamp || isUsed(engine, name)) {
      unusedSince.delete(name);
      return undefined;
    }
    const since = unusedSince.get(name) ?? Date.now();
    unusedSince.set(name, since);
    const wait = since + delayMs - Date.now();
    const logical = await logicalNamespace(engine, own.locator);
    if (wait > 0 && logical !== 'gone') return { after: Math.min(wait, lookMs) };
    const { foreign, claims } = await contentOf(engine, name);
    if (foreign && logical === 'gone') await removeClaims(engine, claims);
    if (foreign || (claims.length > 0 && logical !== 'gone')) {
      return { after: logical === 'going' ? lookMs : Math.max(delayMs, 60_000) };
    }
    // What arrived while we looked counts.
    if (isUsed(engine, name)) return undefined;
    await engine.namespaces.delete(name);
    unusedSince.delete(name);
    return undefined;
  };
  return {
    add: (namespace) => queue.add(namespace),
    async run(engine, ready) {
      engine.namespaces.informer.on({ add: ({ metadata }) => queue.add(metadata.name ?? '') });
      const { name, signal, logger } = engine;
      const work = (key: string) => reconcile(engine, key);
      await runController({
        name: `syncer-cleanup-${name}`,
        queue,
        workers: 1,
        reconcile: work,
        signal,
        logger,
        ready,
      });
    },
  };
}

function isUsed(engine: Engine, name: string): boolean {
  if (engine.shares.hasIndexed('namespace', name)) return true;
  for (const _ of engine.physical.inNamespace(name)) return true;
  return false;
}

/** Only that there is no such Namespace, or another one of its name, says that it is gone: no answer says nothing. */
export async function logicalNamespace(
  { upstream, signal }: Pick<Engine, 'upstream' | 'signal'>,
  { cluster, namespace, uid }: Locator,
): Promise<'there' | 'going' | 'gone'> {
  // Made before uids counted: nobody can tell for which Namespace.
  if (uid === '') return 'there';
  try {
    const path = `${pathOf(namespaces, { name: namespace })}${queryOf({ uid })}`;
    const found = (await upstream.json(path, { cluster, signal })) as KubeObject;
    return found.metadata.deletionTimestamp ? 'going' : 'there';
  } catch (error) {
    if (!isStatusError(error, 'NotFound') || error.details?.kind !== 'namespaces') throw error;
    return 'gone';
  }
}

/**
 * Whether anything is there of a kind that people put into namespaces, but for what every namespace gets by itself; and
 * the claims that our workloads made and left.
 */
async function contentOf(
  engine: Engine,
  namespace: string,
): Promise<{ foreign: boolean; claims: KubeObject[] }> {
  const claims: KubeObject[] = [];
  let foreign = false;
  for (const kind of placedKinds) {
    if (kind.role === 'closure' && kind.reach === 'backs') continue;
    let list: KubeList;
    try {
      list = await engine.client.list(kind, { namespace, signal: engine.signal });
    } catch (error) {
      if (absenceOf(error) === 'notServed') continue;
      // Something of it may be there.
      if (!isStatusError(error, 'Forbidden')) throw error;
      foreign = true;
      continue;
    }
    // What a workload's controllers make beside it, claims and slices, goes with the workload.
    const isMade = ({ metadata }: KubeObject) =>
      kind.role === 'closure' && metadata.ownerReferences?.some((owner) => owner.controller) === true;
    const isLeft = (object: KubeObject) =>
      isSomebodys(kind, object) && !isMade(object) && !isAccountToken(engine, object);
    const left = list.items.filter(isLeft);
    claims.push(...left.filter((object) => isClaimOfOurs(engine, object)));
    foreign ||= left.some((object) => !isClaimOfOurs(engine, object));
  }
  return { foreign: foreign || (await hasCustom(engine, namespace)), claims };
}

/** Of custom resources only those count that something of ours has been of. */
async function hasCustom({ client, physical, signal }: Engine, namespace: string): Promise<boolean> {
  for (const kind of physical.kinds.filter((one) => !placedKind(one))) {
    try {
      if ((await client.list(kind, { namespace, signal })).items.length > 0) return true;
    } catch (error) {
      if (absenceOf(error) !== 'notServed') throw error;
    }
  }
  return false;
}

/** Whatever people add to the account that every namespace has, as some clusters do by themselves, keeps nothing. */
function isSomebodys(kind: PlacedKind, object: KubeObject): boolean {
  return isPlaceable(kind, object) && !isDefaultAccount(kind, object.metadata.name);
}
