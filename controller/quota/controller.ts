import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { objectKey, parseKey } from '../../client/url.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type Counted, countUsed } from '../../kube/quota/count.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { evaluatorsFor } from '../../kube/quota/index.ts';
import { increase, readList } from '../../kube/quota/list.ts';
import { uncountedFrom } from '../../kube/quota/pod.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from '../gc/resources.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { decideStatus, type Quota } from './decide.ts';
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
/** Admission charges before the object is there: for longer than a write takes, what is charged counts. */
const settleMs = 2_000;
const unsyncedMs = 100;
/** Many objects often come or go together. */
const soonMs = 50;
const byNamespace = 'quota/namespace';
const byDefinition = 'quota/definition';

/**
 * Woken by ResourceQuotas, and by what they bound in their namespaces. Writes what is bounded and used into their status, by
 * which admission decides. Resolves when stopped.
 */
export function runQuotaController(options: QuotaControllerOptions): Promise<void> {
  const { client, informers, signal, logger, clock = systemClock } = options;
  const queue = new WorkQueue({ clock, maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Quota>(quotas);
  all.addIndex(byNamespace, (quota) => [namespaceKey(quota)]);
  all.addIndex(byDefinition, (quota) => counting(quota).map(({ group, resource }) => `${resource}.${group}`));
  const usages = new Usages(clock);
  const changed = (evaluator: Evaluator, object: KubeObject, old?: KubeObject) => {
    for (const quota of all.byIndex(byNamespace, namespaceKey(object)))
      if (usages.matters(quota, evaluator, object, old)) queue.addAfter(objectKey(quota), soonMs);
  };
  const definitions = informers.for<CustomResourceDefinition>(customResourceDefinitions);
  const watched = new Watched({ client, informers, definitions, signal, logger, changed });
  const defined = ({ metadata: { name = '' } }: KubeObject) => {
    watched.forget();
    for (const quota of all.byIndex(byDefinition, name)) queue.add(objectKey(quota));
  };
  definitions.on({ add: defined, update: defined, delete: defined });
  /** When it was last charged, as far as is known. */
  const charged = new Map<string, number>();
  all.on({
    add(_quota, key) {
      charged.set(key, clock.now());
      queue.add(key);
    },
    update(quota, old, key) {
      if (!isOnlyCharged(quota, old)) return queue.add(key);
      charged.set(key, clock.now());
      queue.addAfter(key, settleMs);
    },
    delete: (_quota, key) => void charged.delete(key),
  });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const quota = all.get(key);
    if (!quota) return undefined;
    const { cluster, namespace } = parseKey(key);
    const counted: Counted[] = [];
    for (const evaluator of counting(quota)) {
      const informer = watched.of(evaluator, cluster);
      if (!informer) continue;
      // No worker waits for what may never be served again.
      if (!informer.hasSynced) return { after: unsyncedMs };
      counted.push({ evaluator, objects: watched.objects(informer, cluster, namespace) });
    }
    const used = countUsed(quota, counted, (evaluator, object) => usages.of(evaluator, object));
    const settles = (charged.get(key) ?? 0) + settleMs - clock.now();
    const { status, waits } = decideStatus(quota, used, settles <= 0);
    if (status) await write(options, quota, status, clusterToWrite(informers, key));
    const ends = nextEnd(counted, clock.now());
    const after = Math.min(waits ? settles : Number.POSITIVE_INFINITY, ends);
    return Number.isFinite(after) ? { after: Math.max(1, after) } : undefined;
  };
  const ready = [all.synced, definitions.synced];
  return runController({ name: 'quota', queue, workers, reconcile, signal, logger, ready });
}

/** Of nothing less is used, of something more, and the same is bounded. */
function isOnlyCharged(now: Quota, before: Quota): boolean {
  const [used, old] = [readList(now.status?.used), readList(before.status?.used)];
  if (!deepEqual(now.spec, before.spec) || !deepEqual(now.status?.hard, before.status?.hard)) return false;
  return increase(used, old).size > 0 && increase(old, used).size === 0;
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
