import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey, parseKey } from '../../client/url.ts';
import { isReflected } from '../../cluster/reflected.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type Counted, countUsed } from '../../kube/quota/count.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { evaluatorsFor } from '../../kube/quota/index.ts';
import { increase, type ResourceList, readList, sameList } from '../../kube/quota/list.ts';
import { uncountedFrom } from '../../kube/quota/pod.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from '../gc/resources.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { Charges, settleMs } from './charges.ts';
import { decideStatus, type Quota } from './decide.ts';
import { Others, recountMs, type Where } from './extension.ts';
import { namespaceKey } from './names.ts';
import { Usages } from './usages.ts';
import { Watched } from './watched.ts';

export interface QuotaControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  clock?: Clock;
}

const quotas = { group: '', version: 'v1', resource: 'resourcequotas' };
const workers = 4;
const unsyncedMs = 100;
/** Many objects often come or go together. */
const soonMs = 50;
const byNamespace = 'quota/namespace';
const byDefinition = 'quota/definition';
const byGroup = 'quota/group';

/**
 * Woken by ResourceQuotas, and by what they bound in their namespaces. Writes what is bounded and used into their status, by
 * which admission decides. Resolves when stopped.
 */
export function runQuotaController(options: QuotaControllerOptions): Promise<void> {
  const { informers, signal, logger, clock = systemClock } = options;
  const queue = new WorkQueue({ clock, maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Quota>(quotas);
  all.addIndex(byNamespace, (quota) => [namespaceKey(quota)]);
  all.addIndex(byDefinition, (quota) => counting(quota).map(({ group, resource }) => `${resource}.${group}`));
  all.addIndex(byGroup, (quota) => counting(quota).map(({ group }) => `${logicalClusterOf(quota)} ${group}`));
  const usages = new Usages(clock);
  const charges = new Charges();
  const went = (evaluator: Evaluator, object: KubeObject, old?: KubeObject) => {
    for (const quota of all.byIndex(byNamespace, namespaceKey(object)))
      if (usages.matters(quota, evaluator, object, old)) queue.addAfter(objectKey(quota), soonMs);
  };
  const changed = (evaluator: Evaluator, object: KubeObject, old?: KubeObject) => {
    went(evaluator, object, old);
    // What is only shown here was never charged, and what is known since now was long ago.
    if (isReflected(object) || (!old && !isNew(object, clock.now()))) return;
    for (const quota of all.byIndex(byNamespace, namespaceKey(object)))
      charges.came(objectKey(quota), usages.added(quota, evaluator, object, old), clock.now());
  };
  const definitions = informers.for<CustomResourceDefinition>(customResourceDefinitions, {
    everywhere: true,
  });
  const watched = new Watched({ informers, definitions, changed, went });
  const others = new Others(options.client, informers, (group) => {
    for (const quota of all.byIndex(byGroup, group)) queue.add(objectKey(quota));
  });
  const defined = ({ metadata: { name = '' } }: KubeObject) => {
    watched.forget();
    for (const quota of all.byIndex(byDefinition, name)) queue.add(objectKey(quota));
  };
  definitions.on({ add: defined, update: defined, delete: defined });
  /** What is being written here of each, until it is seen: that is no charge. */
  const own = new Map<string, ResourceList>();
  all.on({
    add(quota, key) {
      charges.begin(key, quota.status?.used ? clock.now() : undefined);
      queue.add(key);
    },
    update(quota, old, key) {
      const [used, before] = [readList(quota.status?.used), readList(old.status?.used)];
      const isOwn = sameList(used, own.get(key) ?? new Map());
      if (isOwn) own.delete(key);
      else charges.charged(key, increase(used, before), clock.now());
      if (isOwn || !isOnlyCharged(quota, old)) queue.add(key);
      else queue.addAfter(key, settleMs);
    },
    delete(_quota, key) {
      charges.end(key);
      own.delete(key);
    },
  });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const quota = all.get(key);
    if (!quota) return undefined;
    const { cluster, namespace } = parseKey(key);
    const found = await find(quota, { cluster, namespace, signal }, watched, others);
    // No worker waits for what may never be served again.
    if (!found) return { after: unsyncedMs };
    const { counted, recountAfter } = found;
    const used = countUsed(quota, counted, (evaluator, object) => usages.of(evaluator, object));
    const { status, waits } = decideStatus(quota, used, charges.open(key, clock.now()));
    if (status) {
      own.set(key, readList(status.used));
      await write(options, quota, status, clusterToWrite(informers, key)).catch((error) => {
        own.delete(key);
        throw error;
      });
    }
    const ends = nextEnd(counted, clock.now());
    const settles = waits ? charges.settlesIn(key, clock.now()) : Number.POSITIVE_INFINITY;
    const after = Math.min(settles, ends, recountAfter);
    return Number.isFinite(after) ? { after: Math.max(1, after) } : undefined;
  };
  const ready = [all.synced, definitions.synced, others.synced];
  return runController({ name: 'quota', queue, workers, reconcile, signal, logger, ready });
}

/** What counts there, and when it is to be counted anew. Undefined: not all of it is known yet. */
async function find(
  quota: Quota,
  where: Where,
  watched: Watched,
  others: Others,
): Promise<{ counted: Counted[]; recountAfter: number } | undefined> {
  const { cluster, namespace } = where;
  const counted: Counted[] = [];
  let recountAfter = Number.POSITIVE_INFINITY;
  for (const evaluator of counting(quota)) {
    const informer = watched.of(evaluator, cluster);
    if (informer && !informer.hasSynced) return undefined;
    const objects = informer
      ? watched.objects(informer, cluster, namespace)
      : await others.objects(evaluator, where);
    if (objects) counted.push({ evaluator, objects });
    if (objects && !informer) recountAfter = recountMs;
  }
  return { counted, recountAfter };
}

/** Of nothing less is used, of something more, and the same is bounded. */
function isOnlyCharged(now: Quota, before: Quota): boolean {
  const [used, old] = [readList(now.status?.used), readList(before.status?.used)];
  if (!deepEqual(now.spec, before.spec) || !deepEqual(now.status?.hard, before.status?.hard)) return false;
  return increase(used, old).size > 0 && increase(old, used).size === 0;
}

/** Timestamps are of whole seconds. */
function isNew({ metadata: { creationTimestamp } }: KubeObject, now: number): boolean {
  return now - Date.parse(creationTimestamp ?? '') < settleMs + 1_000;
}

function counting({ spec }: Quota): Evaluator[] {
  return evaluatorsFor(Object.keys(spec?.hard ?? {}));
}

async function write(
  { client, signal }: QuotaControllerOptions,
  quota: Quota,
  status: NonNullable<Quota['status']>,
  cluster: string | undefined,
): Promise<void> {
  try {
    await commit(client, quotas, quota, { ...quota, status }, { cluster, signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

/** Until a pod that does not come to its end stops counting. */
function nextEnd(counted: readonly Counted[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { evaluator, objects } of counted) {
    if (evaluator.resource !== 'pods') continue;
    for (const pod of objects) {
      const end = uncountedFrom(pod);
      if (end !== undefined && end >= now) next = Math.min(next, end - now + 1);
    }
  }
  return next;
}
