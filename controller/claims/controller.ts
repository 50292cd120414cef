import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, type ResourceRef } from '../../client/url.ts';
import { claimStems, stemOf } from '../../cluster/claims.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { Pace } from '../../kube/others-first.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { ownersOfClaim } from './decide.ts';

export interface ClaimsControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const claims: ResourceRef = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const sets: ResourceRef = { group: 'apps', version: 'v1', resource: 'statefulsets' };
const byStem = 'claims/stem';
const workers = 2;
/** What to look at a claim costs, as if it were read. */
const lookBytes = 256;

/**
 * Woken by StatefulSets and claims. Writes whether a set owns its claims in its logical cluster, which counts when it is deleted: a physical
 * cluster may be silent while a user changes their mind. Resolves when stopped.
 */
export function runClaimsController(options: ClaimsControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const ofSets = informers.for(sets);
  const ofClaims = informers.for(claims);
  ofSets.addIndex(byStem, (set) => claimStems(set).map((stem) => keyOfStem(set, stem)));
  ofClaims.addIndex(byStem, (claim) => {
    const stem = stemOf(claim.metadata.name ?? '');
    return stem === undefined ? [] : [keyOfStem(claim, stem)];
  });
  const wakeSet = (_set: KubeObject, key: string) => queue.add(key);
  ofSets.on({ add: wakeSet, update: (set, _old, key) => wakeSet(set, key) });
  const wake = (claim: KubeObject) => {
    const stem = stemOf(claim.metadata.name ?? '');
    if (stem === undefined) return;
    for (const set of ofSets.byIndex(byStem, keyOfStem(claim, stem)))
      queue.add(keyOf(logicalClusterOf(set), set.metadata.namespace ?? '', set.metadata.name ?? ''));
  };
  ofClaims.on({ add: wake, update: wake });
  const reconcile = async (key: string): Promise<undefined> => {
    const set = ofSets.get(key);
    if (!set) return;
    const stems = new Set(claimStems(set));
    const all = [...stems].flatMap((stem) => ofClaims.byIndex(byStem, keyOfStem(set, stem)));
    const where = { cluster: clusterToWrite(informers, key), signal };
    const pace = new Pace(logicalClusterOf(set));
    for (const claim of all) {
      const turn = pace.after(lookBytes);
      if (turn) await turn;
      await write(client, set, claim, where);
    }
  };
  const ready = [ofSets.synced, ofClaims.synced];
  return runController({ name: 'owners of claims', queue, workers, reconcile, signal, logger, ready });
}

function keyOfStem(object: KubeObject, stem: string): string {
  return keyOf(logicalClusterOf(object), object.metadata.namespace ?? '', stem);
}

interface Where {
  cluster: string | undefined;
  signal: AbortSignal;
}

async function write(client: Client, set: KubeObject, claim: KubeObject, where: Where): Promise<void> {
  const ownerReferences = ownersOfClaim(set, claim);
  if (!ownerReferences) return;
  const wanted = { ...claim, metadata: { ...claim.metadata, ownerReferences } };
  try {
    if (ownerReferences.some(({ uid }) => uid === set.metadata.uid) && !(await stays(client, set, where)))
      return;
    await commit(client, claims, claim, wanted, where);
  } catch (error) {
    // What it is now wakes again.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

/** Asked of the store: a claim that was given to a set which is gone by now, and has left its claims, would go after it. */
async function stays(client: Client, set: KubeObject, { cluster, signal }: Where): Promise<boolean> {
  const { namespace, name = '', uid } = set.metadata;
  const { metadata } = await client.get(sets, { cluster, namespace, name }, signal);
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}
