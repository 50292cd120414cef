import { pathOf, queryOf } from '../client/url.ts';
import { claimOfAnnotation, group, version } from '../cluster/names.ts';
import { placementName } from '../cluster/placement.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { at } from '../kube/untyped.ts';
import { claims, removeClaims, setOf } from './claims.ts';
import { type Engine, shareFor } from './engine.ts';
import { readLocator } from './ownership.ts';
import { targetId } from './target.ts';

const statefulsets = { group: 'apps', resource: 'statefulsets' };
/** Nobody tells a cluster that a set which left it is in place elsewhere: as a rule it soon is. */
const [lookMs, mostMs] = [2_000, 30_000];

/**
 * Removes the claims that StatefulSets left behind here, where their user has given up the data: asked for each set that is
 * not here any more, when it has left and when this syncer starts, and again as long as it is not in place elsewhere. No
 * answer removes nothing; what a former registration of this cluster made stays, and what is an object of its own.
 */
export class LeftClaims {
  /** `<physical namespace>/<name of the set>`. */
  readonly #queue = new WorkQueue({ maxDelayMs: 30_000 });
  readonly #waits = new Map<string, number>();

  /** There is such a claim: its set may have left before this syncer started. */
  found(claim: KubeObject): void {
    const set = readLocator(claim, claimOfAnnotation)?.name;
    if (set) this.#queue.add(`${claim.metadata.namespace}/${set}`);
  }

  async run(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void> {
    const { name, signal, logger, shares } = engine;
    shares.on({
      delete: ({ spec }) => {
        if (spec?.ref.resource === statefulsets.resource)
          this.#queue.add(`${spec.physicalNamespace}/${spec.ref.name}`);
      },
    });
    const reconcile = async (key: string): Promise<Retry | undefined> => {
      const after = this.#waits.get(key) ?? lookMs;
      this.#waits.delete(key);
      if (!(await removeLeft(engine, key))) return undefined;
      this.#waits.set(key, Math.min(mostMs, after * 2));
      return { after };
    };
    await runController({
      name: `syncer-left-claims-${name}`,
      queue: this.#queue,
      workers: 2,
      reconcile,
      signal,
      logger,
      ready: [...ready, shares.synced],
    });
  }
}

/** True where it is to be asked again. */
async function removeLeft(engine: Engine, key: string): Promise<boolean> {
  const [namespace = '', name = ''] = key.split('/');
  const isHere = () => shareFor(engine, targetId(statefulsets, namespace, name)) !== undefined;
  if (isHere()) return false;
  const { items } = await engine.client.list(claims, { namespace, signal: engine.signal });
  const left = new Map<string, KubeObject[]>();
  for (const claim of items) {
    const mark = readLocator(claim, claimOfAnnotation);
    if (mark?.syncer !== engine.uid || mark.name !== name || claim.metadata.deletionTimestamp) continue;
    // One name may be that of two sets' claims.
    if (readLocator(claim) || setOf(engine, claim)) continue;
    left.set(mark.uid, [...(left.get(mark.uid) ?? []), claim]);
  }
  let again = false;
  for (const [uid, all] of left) {
    const answer = await askedOf(engine, { namespace, name, uid });
    again ||= answer === 'awaited';
    if (answer !== 'removed' || isHere()) continue;
    await removeClaims(engine, all);
    engine.logger.info({ namespace, name, claims: all.length }, 'claims that were given up are removed');
    engine.namespaceMayBeEmpty(namespace);
  }
  return again;
}

/** What its Placement says now. */
async function askedOf(
  { namespaces, upstream, signal }: Engine,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
): Promise<unknown> {
  const place = namespaces.own(namespace)?.locator;
  if (!place) return 'kept';
  const share = pathOf(
    { group, version, resource: 'shares' },
    { namespace: place.namespace, name: placementName({ ...statefulsets, name }) },
  );
  try {
    const answer = await upstream.json(`${share}/claims${queryOf({ uid })}`, {
      cluster: place.cluster,
      signal,
    });
    return at(answer, 'claims');
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return 'kept';
    throw error;
  }
}
