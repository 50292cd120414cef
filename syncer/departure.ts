import type { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { keyOf, logicalClusterOf } from '../client/url.ts';
import { clusterFinalizer, isForgotten, isReady } from '../cluster/life.ts';
import { physicalClusters, placements, rootCluster } from '../cluster/names.ts';
import { reflectedNodes } from '../cluster/nodes.ts';
import { reflectedKinds } from '../cluster/reflected.ts';
import type { Condition, PhysicalCluster, Placement } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';

export interface DeparturesOptions {
  /** Of the root logical cluster. */
  client: Client;
  informers: InformerSet;
  /** The view of a cluster's syncer: its reflections are nobody else's to remove. */
  viewOf(name: string): Client;
  /** For how long a forgotten cluster that answers, and has nothing else of ours, may take to give up our namespaces; default 30 seconds. */
  forgetMs?: number;
  signal: AbortSignal;
  logger: Logger;
}

const byShare = 'departures/share';
const lookMs = 1_000;
const named = 3;

/**
 * A PhysicalCluster stays until nothing of ours is on it: deleting it drains it (see the scheduler's filters), and a
 * condition says what holds it. With spec.forget it goes when no record counts on it any more. Either way its reflections
 * go before it does, so that nothing is left that only its syncer could remove. Writes its finalizer and one condition.
 */
export async function runDepartures(options: DeparturesOptions): Promise<void> {
  const { informers, signal, logger, forgetMs = 30_000 } = options;
  const clusters = physicalClusterInformer(informers);
  const records = informers.for<Placement>(placements);
  records.addIndex(byShare, ({ spec }) => Object.keys(spec?.shares ?? {}));
  const queue = new WorkQueue();
  const add = (cluster: PhysicalCluster) => queue.add(cluster.metadata.name ?? '');
  clusters.on({ add, update: add });
  /** By uid: since when, in milliseconds since 1970, a forgotten one is held by nothing but our namespaces. */
  const emptiedAt = new Map<string, number>();
  const reconcile = async (name: string): Promise<Retry | undefined> => {
    const cluster = clusters.get(keyOf(rootCluster, '', name));
    if (!cluster) return undefined;
    const guarded = cluster.metadata.finalizers?.includes(clusterFinalizer) === true;
    if (!cluster.metadata.deletionTimestamp) {
      if (!guarded) await setFinalizer(options, cluster, true);
      return undefined;
    }
    if (!guarded) return undefined;
    const held = records.byIndex(byShare, name);
    const { uid = '' } = cluster.metadata;
    if (held.length > 0 || !isForgotten(cluster)) emptiedAt.delete(uid);
    else if (!emptiedAt.has(uid)) emptiedAt.set(uid, Date.now());
    const isLate = Date.now() - (emptiedAt.get(uid) ?? Number.POSITIVE_INFINITY) > forgetMs;
    const holds = holdsIt(cluster, held, isLate);
    if (holds) {
      await say(options, cluster, holds);
      return { after: lookMs };
    }
    if (await removeReflections(options, name)) return { after: 0 };
    await setFinalizer(options, cluster, false);
    emptiedAt.delete(uid);
    return undefined;
  };
  const ready = [clusters.synced, records.synced];
  await runController({ name: 'departures', queue, reconcile, signal, logger, ready });
}

/** What keeps it, as a sentence; undefined: nothing. `isLate`: a forgotten one had its time to give up our namespaces. */
function holdsIt(cluster: PhysicalCluster, held: readonly Placement[], isLate: boolean): string | undefined {
  const { name = '' } = cluster.metadata;
  const how = isReady(cluster) ? '' : '; it does not answer';
  const giveUp = `; to give it up: atoll cluster remove ${name} --forget`;
  if (held.length > 0) {
    const some = held.slice(0, named).map((placement) => stateOf(name, placement));
    const more = held.length > named ? ` and ${held.length - named} more` : '';
    return `it still has ${some.join(', ')}${more}${how}${isForgotten(cluster) ? '' : giveUp}`;
  }
  const left = cluster.status?.namespaces ?? 0;
  if (left === 0) return undefined;
  if (isForgotten(cluster))
    return isReady(cluster) && !isLate ? `namespaces of ours are being removed (${left})` : undefined;
  return `namespaces of ours are still there (${left}): claims, or objects of others, keep one${how}${giveUp}`;
}

/** What holds it, and why: that it is to stay, or whom it waits for before it leaves. */
export function stateOf(name: string, placement: Placement): string {
  const { ref, clusters = [], reasons } = placement.spec ?? {};
  const what = ref && `${groupResource(ref)}/${ref.name}`;
  const settled = placement.status?.conditions?.find(({ type }) => type === 'Settled');
  const waits = settled?.status === 'False' && settled.reason !== 'Leaving' ? settled.message : undefined;
  const why = clusters.includes(name) ? reasons?.[name] : waits;
  const where = `${logicalClusterOf(placement)}/${placement.metadata.namespace}/${what}`;
  return why === undefined ? where : `${where} (${why})`;
}

/** True where there were any: those that come meanwhile are for the next time. */
async function removeReflections({ viewOf, signal }: DeparturesOptions, name: string): Promise<boolean> {
  const view = viewOf(name);
  let found = false;
  for (const kind of [...reflectedKinds, reflectedNodes]) {
    const { items } = await view.list(kind, { signal });
    found ||= items.length > 0;
    for (const object of items) {
      const { namespace, name: called = '' } = object.metadata;
      const target = { cluster: logicalClusterOf(object), namespace, name: called };
      try {
        await view.delete(kind, target, {}, signal);
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }
  }
  return found;
}

async function setFinalizer(
  { client, signal }: DeparturesOptions,
  cluster: PhysicalCluster,
  there: boolean,
): Promise<void> {
  const others = (cluster.metadata.finalizers ?? []).filter((finalizer) => finalizer !== clusterFinalizer);
  const finalizers = there ? [...others, clusterFinalizer] : others;
  const wanted = { ...cluster, metadata: { ...cluster.metadata, finalizers } };
  await commit(client, physicalClusters, cluster, wanted, { cluster: rootCluster, signal });
}

async function say(
  { client, signal }: DeparturesOptions,
  cluster: PhysicalCluster,
  message: string,
): Promise<void> {
  const before = cluster.status?.conditions ?? [];
  const old = before.find(({ type }) => type === 'Empty');
  if (old?.message === message) return;
  const lastTransitionTime = old?.lastTransitionTime ?? new Date().toISOString();
  const condition: Condition = {
    type: 'Empty',
    status: 'False',
    reason: 'Held',
    message,
    lastTransitionTime,
  };
  const conditions = [...before.filter(({ type }) => type !== 'Empty'), condition];
  const wanted = { ...cluster, status: { ...cluster.status, conditions } };
  await commit(client, physicalClusters, cluster, wanted, { cluster: rootCluster, signal });
}
