import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey, type ResourceRef } from '../../client/url.ts';
import { checkHeader } from '../../cluster/names.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import {
  type Answer,
  type ApiService,
  type Available,
  always,
  apiServices,
  fromAnswer,
  obstacle,
  type Target,
  targetOf,
  told,
} from './decide.ts';

export interface AvailabilityControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** How often one that answers is asked; default 30 000. */
  everyMs?: number;
}

const services: ResourceRef = { group: '', version: 'v1', resource: 'services' };
const slices: ResourceRef = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const byService = 'availability/service';
const byTarget = 'availability/target';
const workers = 4;
/** Of an answer that says why there is none. */
const mostSaid = 1000;

/**
 * Woken by APIServices that name a Service, by that Service and its slices, and by time. Says of each whether it is available: asked
 * through the API itself, which knows the way and its bounds. Where there are none nothing is done. Resolves when stopped.
 */
export function runAvailabilityController(options: AvailabilityControllerOptions): Promise<void> {
  const { client, informers, signal, logger, everyMs = 30_000 } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<ApiService>(apiServices);
  const ofServices = informers.for(services);
  const ofSlices = informers.for(slices);
  ofSlices.addIndex(byService, (slice) => [keyOfService(slice)]);
  all.addIndex(byTarget, (one) => {
    const target = targetOf(one);
    return target ? [keyOf(logicalClusterOf(one), target.namespace, target.name)] : [];
  });
  all.on({
    add: (one, key) => void (targetOf(one) && queue.add(key)),
    update: (one, old, key) => {
      // It has no generation.
      if (!deepEqual(one.spec, old.spec)) queue.add(key);
      else if (targetOf(one) && saidOf(one) !== saidOf(old)) queue.add(key);
    },
  });
  const wake = (service: string) => {
    for (const one of all.byIndex(byTarget, service)) {
      queue.add(keyOf(logicalClusterOf(one), '', one.metadata.name ?? ''));
    }
  };
  const ofService = (_service: KubeObject, key: string) => wake(key);
  ofServices.on({ add: ofService, update: (_now, _old, key) => wake(key), delete: ofService });
  const ofSlice = (slice: KubeObject) => wake(keyOfService(slice));
  ofSlices.on({ add: ofSlice, update: ofSlice, delete: ofSlice });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const apiService = all.get(key);
    if (!apiService || apiService.metadata.deletionTimestamp) return undefined;
    const target = targetOf(apiService);
    const { cluster } = parseKey(key);
    const where = { cluster: clusterToWrite(informers, key), signal };
    if (!target) {
      await write(client, apiService, told(apiService, always, timestamp()), where);
      return undefined;
    }
    const at = keyOf(cluster, target.namespace, target.name);
    const hindered = obstacle(target, ofServices.get(at), ofSlices.byIndex(byService, at));
    const available = hindered ?? (await check(client, apiService, target, where));
    await write(client, apiService, told(apiService, available, timestamp()), where);
    // Whoever is in the way wakes it.
    if (hindered) return undefined;
    return available.status === 'True'
      ? { after: everyMs * (0.8 + Math.random() * 0.4) }
      : { after: 'growing' };
  };
  const ready = [all.synced, ofServices.synced, ofSlices.synced];
  return runController({ name: 'availability', queue, workers, reconcile, signal, logger, ready });
}

interface Where {
  cluster: string | undefined;
  signal: AbortSignal;
}

/** Twice, before it is said that there is no answer. */
async function check(client: Client, { spec }: ApiService, target: Target, where: Where): Promise<Available> {
  const gv = `${spec?.group ?? ''}/${spec?.version ?? ''}`;
  const first = fromAnswer(target, gv, await ask(client, gv, where));
  return first.status === 'True' ? first : fromAnswer(target, gv, await ask(client, gv, where));
}

async function ask(client: Client, gv: string, { cluster, signal }: Where): Promise<Answer> {
  const headers = { accept: 'application/json', [checkHeader]: 'yes' };
  const response = await client.raw({ method: 'GET', path: `/apis/${gv}`, headers, cluster, signal });
  const { status, body } = response;
  if (response.headers[checkHeader] === undefined) return status === 200 ? { own: true } : { status };
  if (body instanceof Uint8Array) {
    const text = Buffer.from(body).toString().trim();
    const prefix = 'error trying to reach service: ';
    if (status === 503 && text.startsWith(prefix)) return { failure: text.slice(prefix.length, mostSaid) };
    return { status };
  }
  // What it says nobody reads; that it says something is enough.
  try {
    for await (const _piece of body) break;
    return { status };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

async function write(client: Client, old: ApiService, wanted: ApiService, where: Where): Promise<void> {
  try {
    await commit(client, apiServices, old, wanted, where);
  } catch (error) {
    // Somebody else has written it: that wakes again.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

function saidOf({ status }: ApiService): string {
  return JSON.stringify(status?.conditions ?? []);
}

function keyOfService(slice: KubeObject): string {
  const service = slice.metadata.labels?.['kubernetes.io/service-name'] ?? '';
  return keyOf(logicalClusterOf(slice), slice.metadata.namespace ?? '', service);
}
