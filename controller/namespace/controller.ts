import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import {
  decideNamespace,
  deletionConditions,
  type Namespace,
  namespaceFinalizer,
  type Remains,
} from './decide.ts';
import { emptyNamespace } from './empty.ts';
import { configMaps, furnish, namespaces, rootCaName, rootCaOf, serviceAccounts } from './furnish.ts';

export interface NamespaceControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** PEM, for the ConfigMap kube-root-ca.crt; without it none is written. */
  rootCa?: string | undefined;
}

const workers = 4;
/** Until the next look at a namespace whose content is going. Grows with the time that has passed already. */
const firstLookMs = 100;
const laterLookMs = 5_000;

/**
 * Woken by namespaces and by the two objects each of them has. Writes those two, the deletion of what is in a
 * terminating namespace, its conditions, and the end of its finalizer. Resolves when stopped.
 */
export function runNamespaceController(options: NamespaceControllerOptions): Promise<void> {
  const { informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Namespace>(namespaces);
  const accounts = informers.for(serviceAccounts);
  const maps = informers.for(configMaps);
  const wake = (_object: unknown, key: string) => queue.add(key);
  const wakeOwner = (name: string) => (object: KubeObject) => {
    if (object.metadata.name === name) {
      queue.add(keyOf(logicalClusterOf(object), '', object.metadata.namespace ?? ''));
    }
  };
  all.on({ add: wake, update: (object, _old, key) => wake(object, key) });
  accounts.on({ delete: wakeOwner('default') });
  maps.on({ update: wakeOwner(rootCaName), delete: wakeOwner(rootCaName) });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const namespace = all.get(key);
    if (!namespace) return undefined;
    const { cluster, name } = parseKey(key);
    const serviceAccount = accounts.get(keyOf(cluster, name, 'default')) !== undefined;
    const found = { serviceAccount, rootCa: rootCaOf(maps.get(keyOf(cluster, name, rootCaName))) };
    const step = decideNamespace(namespace, found, options.rootCa);
    const target = { cluster: clusterToWrite(informers, key), namespace: name, signal };
    if (step.do === 'furnish') await furnish(options.client, target, step, options.rootCa ?? '');
    if (step.do === 'empty') return await terminate(options.client, namespace, target);
    return undefined;
  };
  const ready = [all.synced, accounts.synced, maps.synced];
  return runController({ name: 'namespace', queue, workers, reconcile, signal, logger, ready });
}

interface Target {
  cluster: string | undefined;
  namespace: string;
  signal: AbortSignal;
}

async function terminate(client: Client, seen: Namespace, target: Target): Promise<Retry | undefined> {
  const { cluster, namespace, signal } = target;
  const remains = await emptyNamespace(client, target);
  try {
    if (Object.keys(remains.counts).length + remains.failures.length + remains.unknown.length > 0) {
      await explain(client, seen, remains, target);
      const waiting = Date.now() - Date.parse(seen.metadata.deletionTimestamp ?? '');
      return { after: Math.max(firstLookMs, Math.min(laterLookMs, waiting / 2 || 0)) };
    }
    if (isHeld(seen)) await tell(client, remains, target);
    const live = await client.get<Namespace>(namespaces, { cluster, name: namespace }, signal);
    // Deleted and made again since: this one is another.
    if (live.metadata.uid !== seen.metadata.uid) return undefined;
    const finalizers = (live.spec?.finalizers ?? []).filter((name) => name !== namespaceFinalizer);
    const freed = { ...live, spec: { ...live.spec, finalizers } };
    await client.update(namespaces, freed, { cluster, subresource: 'finalize', signal });
  } catch (error) {
    if (!isMissing(error, namespace)) throw error;
  }
  return undefined;
}

/** Of interest only where a namespace stays: those that empty at once are not written to. */
async function explain(client: Client, seen: Namespace, remains: Remains, target: Target): Promise<void> {
  const waiting = Date.now() - Date.parse(seen.metadata.deletionTimestamp ?? '');
  if (waiting < 2_000 && remains.failures.length + remains.unknown.length === 0) return;
  await tell(client, remains, target);
}

/** Whether it stays when it is empty, by finalizers of others. */
function isHeld({ metadata, spec }: Namespace): boolean {
  const own = spec?.finalizers?.filter((name) => name !== namespaceFinalizer) ?? [];
  return own.length + (metadata.finalizers ?? []).length > 0;
}

async function tell(client: Client, remains: Remains, target: Target): Promise<void> {
  const { cluster, namespace, signal } = target;
  const live = await client.get<Namespace>(namespaces, { cluster, name: namespace }, signal);
  const now = timestamp();
  const conditions = deletionConditions(remains, live.status?.conditions ?? [], now);
  await commit(
    client,
    namespaces,
    live,
    { ...live, status: { ...live.status, conditions } },
    { cluster, signal },
  );
}
