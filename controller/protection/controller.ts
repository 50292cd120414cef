import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey, type ResourceRef } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import {
  type Claim,
  isBound,
  isHeld,
  type PersistentVolume,
  type Pod,
  type Protected,
  protections,
  usesClaim,
  usesClass,
} from './decide.ts';

export interface ProtectionControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const pods: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
const resources: Readonly<Record<Protected, ResourceRef>> = {
  persistentvolumeclaims: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  persistentvolumes: { group: '', version: 'v1', resource: 'persistentvolumes' },
  volumeattributesclasses: { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' },
};

const workers = 2;
/** Until the next look at what is to go and is in use. */
const lookAgainMs = 2_000;

/**
 * Woken by claims, volumes and their classes that are being deleted. Writes only the end of the protecting finalizer,
 * when nobody uses them any more. Resolves when stopped.
 */
export async function runProtectionController(options: ProtectionControllerOptions): Promise<void> {
  await Promise.all((Object.keys(resources) as Protected[]).map((kind) => protect(kind, options)));
}

function protect(kind: Protected, options: ProtectionControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const finalizer = protections[kind];
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for(resources[kind]);
  const wake = (object: KubeObject, key: string) => {
    if (isHeld(object, finalizer)) queue.add(key);
  };
  all.on({ add: wake, update: (object, _old, key) => wake(object, key) });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const { namespace, name } = parseKey(key);
    const cluster = clusterToWrite(informers, key);
    try {
      const live = await client.get(resources[kind], { cluster, namespace, name }, signal);
      if (!isHeld(live, finalizer)) return undefined;
      if (await isInUse(kind, live, options, cluster)) return { after: lookAgainMs };
      const finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== finalizer);
      const wanted = { ...live, metadata: { ...live.metadata, finalizers } };
      await commit(client, resources[kind], live, wanted, { cluster, signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    return undefined;
  };
  const ready = [all.synced];
  return runController({
    name: `protection of ${kind}`,
    queue,
    workers,
    reconcile,
    signal,
    logger,
    ready,
  });
}

async function isInUse(
  kind: Protected,
  object: KubeObject,
  { client, signal }: ProtectionControllerOptions,
  cluster: string | undefined,
): Promise<boolean> {
  const where = { cluster, signal };
  const { name = '', namespace } = object.metadata;
  if (kind === 'persistentvolumes') return isBound(object as PersistentVolume);
  if (kind === 'persistentvolumeclaims') {
    const { items } = await client.list<Pod>(pods, { ...where, namespace });
    return items.some((pod) => usesClaim(pod, object));
  }
  const claims = await client.list<Claim>(resources.persistentvolumeclaims, where);
  if (claims.items.some((claim) => usesClass(claim, name))) return true;
  const volumes = await client.list<PersistentVolume>(resources.persistentvolumes, where);
  return volumes.items.some((volume) => usesClass(volume, name));
}
