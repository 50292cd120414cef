import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, parseKey } from '../../client/url.ts';
import { scalesHereAnnotation } from '../../cluster/names.ts';
import { scalesHere } from '../../cluster/placeable.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { EventRecorder, type Word } from '../events.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { conditionSet, decide, isByMetrics, type Seen, statusAfter } from './decide.ts';
import { autoscalers, follow, type Known } from './known.ts';
import { asksPods } from './propose.ts';
import { type History, noteScale } from './rates.ts';
import { type Reader, readAll } from './read.ts';
import { type Found, podsOf, scaleOf, type Where, whyOf, writeScale } from './target.ts';
import type { Autoscaler, AutoscalerSpec, AutoscalerStatus } from './types.ts';

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

const workers = 4;

/**
 * HorizontalPodAutoscalers by metrics of which their logical cluster has an API server of its own, and of custom resources: no
 * physical cluster knows those. Such a one is marked, which keeps it from being placed, and its target is scaled here; so is whoever
 * else scales that target. Woken by them, by APIServices of those groups and by time. Resolves when stopped. See decisions/0067.
 */
export function runAutoscalingController(options: AutoscalingOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({
    maxDelayMs: 60_000,
    fair: byLogicalCluster(workers),
    ...(options.clock && { clock: options.clock }),
  });
  const fleet = follow(informers, (key) => queue.add(key));
  const histories = new Map<string, History>();
  const recorder = new EventRecorder({ client, component: 'horizontal-pod-autoscaler', signal, logger });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const known = fleet.of(key);
    if (!known?.isHere) histories.delete(key);
    if (!known) return undefined;
    const { hpa, isHere } = known;
    const { cluster, namespace } = parseKey(key);
    const where = { cluster: clusterToWrite(informers, key), namespace, signal };
    if (scalesHere(hpa) !== isHere) {
      await mark(client, hpa, isHere, where);
      return undefined;
    }
    if (!isHere) return undefined;
    const history = histories.get(key) ?? { recommended: [], ups: [], downs: [] };
    histories.set(key, history);
    const words = await pass(options, known, history, where);
    const { name = '', uid = '' } = hpa.metadata;
    const about = { cluster, namespace, ...autoscalers, kind: hpa.kind, name, uid };
    recorder.say(about, words);
    return { after: options.everyMs ?? 15_000 };
  };
  const { ready } = fleet;
  return runController({ name: 'autoscaling', queue, workers, reconcile, signal, logger, ready });
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

/** Looks once, and does what follows. Answers what is to be said of it. */
async function pass(
  { client, autoscalerOf, clock = systemClock }: AutoscalingOptions,
  { hpa, scalers, version }: Known,
  history: History,
  where: Where,
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
  const known = { scale: found.scale, selector: found.selector, scalers, now: clock.now() };
  const from = { reader: client, client: autoscaler, version, selector: found.selector, where };
  const seen = { ...known, ...(await look(from, hpa, found, isByMetrics(hpa, known))) };
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
  from: Reader,
  { spec }: Autoscaler,
  found: Found,
  isByMetrics: boolean,
): Promise<Pick<Seen, 'readings' | 'pods' | 'unlisted'>> {
  const metrics = isByMetrics ? (spec?.metrics ?? []) : [];
  const listed = metrics.some(asksPods) ? await podsOf(from.client, found, from.where) : { pods: [] };
  return { ...listed, readings: await readAll(from, metrics) };
}

/** While it is marked nobody else says how it is: what was just done is told, whoever has written the object meanwhile. */
const tell = (client: Client, hpa: Autoscaler, status: AutoscalerStatus, where: Where) =>
  write(client, hpa, { ...hpa, status }, { ...where, lock: false });
