import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, type ResourceRef } from '../../client/url.ts';
import { serviceOfEndpoints } from '../../cluster/kinds.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { decideEndpoints, type Steps } from './decide.ts';

export interface EndpointsControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const services: ResourceRef = { group: '', version: 'v1', resource: 'services' };
const endpoints: ResourceRef = { group: '', version: 'v1', resource: 'endpoints' };
const slices: ResourceRef = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const byService = 'endpoints/service';
const workers = 4;

/**
 * Woken by Services, Endpoints and EndpointSlices. Writes those of the latter two that no physical cluster makes: see
 * decideEndpoints. Resolves when stopped.
 */
export function runEndpointsController(options: EndpointsControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = [services, endpoints, slices].map((resource) => informers.for(resource));
  const [ofServices, ofEndpoints, ofSlices] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
  ofSlices.addIndex(byService, (slice) => [keyOfService(slice)]);
  /** Services that went, until their Endpoints did. */
  const went = new Set<string>();
  const wake = (_object: KubeObject, key: string) => queue.add(key);
  const wakeAgain = (_object: KubeObject, _old: KubeObject, key: string) => queue.add(key);
  ofServices.on({
    add: wake,
    update: wakeAgain,
    delete: (_service, key) => {
      went.add(key);
      queue.add(key);
    },
  });
  ofEndpoints.on({ add: wake, update: wakeAgain, delete: wake });
  const ofService = (slice: KubeObject) => queue.add(keyOfService(slice));
  ofSlices.on({ add: ofService, update: ofService, delete: ofService });
  const reconcile = async (key: string): Promise<undefined> => {
    const found = {
      service: ofServices.get(key),
      endpoints: ofEndpoints.get(key),
      slices: ofSlices.byIndex(byService, key),
      wasThere: went.has(key),
    };
    await carryOut(client, decideEndpoints(found), { cluster: clusterToWrite(informers, key), signal });
    went.delete(key);
  };
  const ready = all.map(({ synced }) => synced);
  return runController({ name: 'endpoints', queue, workers, reconcile, signal, logger, ready });
}

function keyOfService(slice: KubeObject): string {
  return keyOf(logicalClusterOf(slice), slice.metadata.namespace ?? '', serviceOfEndpoints(slice));
}

interface Where {
  cluster: string | undefined;
  signal: AbortSignal;
}

async function carryOut(client: Client, { create, update, remove }: Steps, where: Where): Promise<void> {
  for (const object of create) await unlessGone(() => client.create(refOf(object), object, where));
  for (const { old, wanted } of update)
    await unlessGone(() => commit(client, refOf(old), old, wanted, where));
  for (const object of remove) {
    const { namespace, name = '', uid } = object.metadata;
    const how = { ...(uid && { preconditions: { uid } }) };
    await unlessGone(() =>
      client.delete(refOf(object), { cluster: where.cluster, namespace, name }, how, where.signal),
    );
  }
}

function refOf({ kind }: KubeObject): ResourceRef {
  return kind === 'Endpoints' ? endpoints : slices;
}

/** Somebody was quicker, or the namespace ends: what has changed wakes again. */
async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const isOver = ['NotFound', 'AlreadyExists', 'Conflict'].some((reason) => isStatusError(error, reason));
    const isEnding = isStatusError(error, 'Forbidden') && /being terminated/.test(error.message);
    if (!isOver && !isEnding) throw error;
  }
}
