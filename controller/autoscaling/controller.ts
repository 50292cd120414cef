import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey, parseKey, type ResourceRef } from '../../client/url.ts';
import { scalesHereAnnotation } from '../../cluster/names.ts';
import { scalesHere } from '../../cluster/placeable.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { deepEqual } from '../../kube/deep.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { Logger } from '../../kube/log.ts';
import { isStatusError } from '../../kube/status.ts';
import { type ApiService, apiServices, targetOf } from '../aggregation/decide.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { EventRecorder, type Word } from '../events.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import {
  asksReady,
  conditionSet,
  decide,
  isByExternal,
  isByMetrics,
  type Seen,
  statusAfter,
} from './decide.ts';
import { type History, noteScale } from './rates.ts';
import {
  externalGroup,
  type Found,
  read,
  readyPods,
  scaleOf,
  type Where,
  whyOf,
  writeScale,
} from './target.ts';
import type { Autoscaler, AutoscalerSpec, AutoscalerStatus, Reading } from './types.ts';

export interface AutoscalingOptions {
  client: Client;
  /** As kube-controller-manager's autoscaler in a logical cluster: what it may is for the roles there to say. */
  autoscalerOf(cluster: string): Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** How often each is looked at; default 15 000, as in Kubernetes. */
  everyMs?: number;
  clock?: Clock;
}

const autoscalers: ResourceRef = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
};
const byCluster = 'autoscaling/cluster';
const byTarget = 'autoscaling/target';
const workers = 4;

/**
 * HorizontalPodAutoscalers by external metrics alone, of logical clusters that have an API server of their own for those: no
 * physical cluster knows them. Such a one is marked, which keeps it from being placed, and its target is scaled here. Woken by them, by
 * APIServices of that group and by time. Resolves when stopped. See decisions/0067.
 */
export function runAutoscalingController(options: AutoscalingOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({
    maxDelayMs: 60_000,
    fair: byLogicalCluster(workers),
    ...(options.clock && { clock: options.clock }),
  });
  const all = informers.for<Autoscaler>(autoscalers);
  const servers = informers.for<ApiService>(apiServices);
  all.addIndex(byCluster, (one) => (isByExternal(one) ? [logicalClusterOf(one)] : []));
  all.addIndex(byTarget, (one) => [keyOfTarget(one)]);
  servers.addIndex(byCluster, (one) =>
    one.spec?.group === externalGroup && targetOf(one) ? [logicalClusterOf(one)] : [],
  );
  const concerns = (one: Autoscaler) => isByExternal(one) || scalesHere(one);
  all.on({
    add: (one, key) => void (concerns(one) && queue.add(key)),
    update: (one, old, key) => {
      const isNews = !deepEqual(one.spec, old.spec) || scalesHere(one) !== scalesHere(old);
      if (isNews && concerns(one)) queue.add(key);
    },
    delete: (_one, key) => void histories.delete(key),
  });
  const wake = (one: ApiService) => {
    if (one.spec?.group !== externalGroup) return;
    for (const hpa of all.byIndex(byCluster, logicalClusterOf(one))) queue.add(objectKey(hpa));
  };
  servers.on({
    add: wake,
    update: (one, old) => void (!deepEqual(one.spec, old.spec) && wake(one)),
    delete: wake,
  });
  const histories = new Map<string, History>();
  const recorder = new EventRecorder({ client, component: 'horizontal-pod-autoscaler', signal, logger });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const hpa = all.get(key);
    if (!hpa || hpa.metadata.deletionTimestamp) return undefined;
    const { cluster, namespace } = parseKey(key);
    const [server] = isByExternal(hpa) ? servers.byIndex(byCluster, cluster) : [];
    const where = { cluster: clusterToWrite(informers, key), namespace, signal };
    if (scalesHere(hpa) !== (server !== undefined)) {
      if (!server) histories.delete(key);
      await mark(client, hpa, server !== undefined, where);
      return undefined;
    }
    if (!server) return undefined;
    const history = histories.get(key) ?? { recommended: [], ups: [], downs: [] };
    histories.set(key, history);
    const ofTarget = all.byIndex(byTarget, keyOfTarget(hpa));
    const scalers = ofTarget.map(({ metadata }) => `${namespace}/${metadata.name}`).sort();
    const words = await pass(options, hpa, server.spec?.version ?? '', { history, where, scalers });
    const { name = '', uid = '' } = hpa.metadata;
    const about = { cluster, namespace, ...autoscalers, kind: hpa.kind, name, uid };
    recorder.say(about, words);
    return { after: options.everyMs ?? 15_000 };
  };
  const ready = [all.synced, servers.synced];
  return runController({ name: 'autoscaling', queue, workers, reconcile, signal, logger, ready });
}

function keyOfTarget(hpa: Autoscaler): string {
  const { apiVersion = 'v1', kind = '', name = '' } = hpa.spec?.scaleTargetRef ?? {};
  return JSON.stringify([
    logicalClusterOf(hpa),
    hpa.metadata.namespace,
    parseApiVersion(apiVersion).group,
    kind,
    name,
  ]);
}

async function mark(client: Client, hpa: Autoscaler, isHere: boolean, where: Where): Promise<void> {
  const { [scalesHereAnnotation]: _mark, ...others } = hpa.metadata.annotations ?? {};
  const annotations = isHere ? { ...others, [scalesHereAnnotation]: 'true' } : others;
  await write(client, hpa, { ...hpa, metadata: { ...hpa.metadata, annotations } }, where);
}

async function write(
  client: Client,
  old: Autoscaler,
  wanted: Autoscaler,
  where: Where & { lock?: boolean },
): Promise<void> {
  try {
    await commit(client, autoscalers, old, wanted, where);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

interface Pass {
  history: History;
  /** Of the same target. */
  scalers: string[];
  where: Where;
}

/** Looks once, and does what follows. Answers what is to be said of it. */
async function pass(
  { client, autoscalerOf, clock = systemClock }: AutoscalingOptions,
  hpa: Autoscaler,
  version: string,
  { history, where, scalers }: Pass,
): Promise<Word[]> {
  const spec = hpa.spec as AutoscalerSpec;
  const autoscaler = autoscalerOf(logicalClusterOf(hpa));
  let found: Found;
  try {
    found = await scaleOf(client, autoscaler, spec, where);
  } catch (error) {
    where.signal.throwIfAborted();
    const why = whyOf(error);
    const message = `the HPA controller was unable to get the target's current scale: ${why}`;
    const unable = { type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message } as const;
    const conditions = conditionSet(hpa.status?.conditions ?? [], unable, clock.now());
    await tell(client, hpa, { ...hpa.status, conditions }, where);
    return [{ type: 'Warning', reason: 'FailedGetScale', message: why }];
  }
  const seen = await look(autoscaler, version, hpa, found, { where, scalers, now: clock.now() });
  const decision = decide(hpa, seen, history);
  const { words, replicas, reason } = decision;
  if (replicas === undefined) {
    await tell(client, hpa, statusAfter(hpa, decision, seen, false), where);
    return words;
  }
  try {
    await writeScale(autoscaler, found, replicas, where);
  } catch (error) {
    where.signal.throwIfAborted();
    const why = whyOf(error);
    const message = `the HPA controller was unable to update the target scale: ${why}`;
    const unable = { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message } as const;
    const conditions = conditionSet(decision.conditions, unable, seen.now);
    await tell(client, hpa, statusAfter(hpa, { ...decision, conditions, failed: true }, seen, false), where);
    const said = `New size: ${replicas}; reason: ${reason}; error: ${why}`;
    return [...words, { type: 'Warning', reason: 'FailedRescale', message: said }];
  }
  noteScale(history, seen.scale.wanted, replicas, seen.now);
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const able = { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message } as const;
  const conditions = conditionSet(decision.conditions, able, seen.now);
  await tell(client, hpa, statusAfter(hpa, { ...decision, conditions }, seen, true), where);
  return [
    ...words,
    { type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${replicas}; reason: ${reason}` },
  ];
}

async function look(
  autoscaler: Client,
  version: string,
  hpa: Autoscaler,
  found: Found,
  { where, scalers, now }: Pick<Pass, 'where' | 'scalers'> & { now: number },
): Promise<Seen> {
  const { scale } = found;
  const spec = hpa.spec as AutoscalerSpec;
  const known = { scale, selector: found.selector, scalers, now };
  if (!isByMetrics(hpa, known)) return { ...known, readings: [], ready: undefined };
  const ready = asksReady(spec) ? await readyPods(autoscaler, found, where) : undefined;
  const readings: Reading[] = [];
  // One after the other, as Kubernetes does: there may be any number.
  for (const metric of spec.metrics ?? []) readings.push(await read(autoscaler, version, metric, where));
  return { ...known, readings, ready };
}

/** While it is marked nobody else says how it is: what was just done is told, whoever has written the object meanwhile. */
const tell = (client: Client, hpa: Autoscaler, status: AutoscalerStatus, where: Where) =>
  write(client, hpa, { ...hpa, status }, { ...where, lock: false });
