import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey, type ResourceRef } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { type CustomResourceDefinition, customResourceDefinitions, hasNames } from '../gc/resources.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';

export interface DefinitionControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

interface Condition {
  type: string;
  status?: string;
  reason?: string;
  lastTransitionTime?: string;
}

const finalizer = 'customresourcecleanup.apiextensions.k8s.io';
const workers = 2;
/** Until the next look: finalizers keep objects, and a server that has not heard of the end makes them. */
const lookAgainMs = 1_000;

function isEnding({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

/**
 * Woken by definitions of custom resources that are being deleted: has their objects deleted, and lets the
 * definition go when a look finds none. Writes nothing else. Resolves when stopped.
 */
export function runDefinitionController(options: DefinitionControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<CustomResourceDefinition>(customResourceDefinitions);
  const wake = (object: KubeObject, key: string) => {
    if (isEnding(object)) queue.add(key);
  };
  // Once: what is written while it goes, here too, would have the next look come too early.
  const update = (object: KubeObject, old: KubeObject, key: string) => {
    if (!isEnding(old) || old.metadata.uid !== object.metadata.uid) wake(object, key);
  };
  all.on({ add: wake, update });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const cluster = clusterToWrite(informers, key);
    const { name } = parseKey(key);
    try {
      let live = await client.get<CustomResourceDefinition>(
        customResourceDefinitions,
        { cluster, name },
        signal,
      );
      if (!isEnding(live)) return undefined;
      live = await tell(client, live, inProgress, { cluster, signal });
      if ((await deleteInstances(client, live, cluster, signal)) > 0) return { after: lookAgainMs };
      const finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== finalizer);
      if (finalizers.length > 0) live = await tell(client, live, completed, { cluster, signal });
      const wanted = { ...live, metadata: { ...live.metadata, finalizers } };
      await commit(client, customResourceDefinitions, live, wanted, { cluster, signal });
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
    return undefined;
  };
  const ready = [all.synced];
  return runController({ name: 'definition', queue, workers, reconcile, signal, logger, ready });
}

const inProgress = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

const completed = {
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
};

/** Says so before it begins, as with finalizers on its objects it may take long, and at the end where others hold it. */
async function tell(
  client: Client,
  live: CustomResourceDefinition,
  what: typeof inProgress,
  options: { cluster: string | undefined; signal: AbortSignal },
): Promise<CustomResourceDefinition> {
  const status = (live.status ?? {}) as { conditions?: Condition[] };
  const { conditions = [] } = status;
  const is = conditions.find(({ type }) => type === what.type);
  if (is === undefined || is.reason === what.reason) return live;
  const lastTransitionTime = is.status === what.status ? is.lastTransitionTime : timestamp();
  const told = conditions.map((one) => (one === is ? { ...one, ...what, lastTransitionTime } : one));
  const wanted = { ...live, status: { ...status, conditions: told } };
  return client.update<CustomResourceDefinition>(customResourceDefinitions, wanted, {
    ...options,
    subresource: 'status',
    fieldManager: 'kube-apiserver',
  });
}

/** Answers how many there were. */
async function deleteInstances(
  client: Client,
  crd: CustomResourceDefinition,
  cluster: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const { spec } = crd;
  // Whose names were never its own has no objects.
  if (!hasNames(crd)) return 0;
  const version =
    spec?.versions.find(({ served }) => served) ?? spec?.versions.find(({ storage }) => storage);
  if (spec === undefined || version === undefined) return 0;
  const resource: ResourceRef = { group: spec.group, version: version.name, resource: spec.names.plural };
  const { items } = await client.list(resource, { cluster, signal });
  for (const { metadata } of items) {
    const { namespace, name = '', uid } = metadata;
    if (metadata.deletionTimestamp) continue;
    try {
      const preconditions = uid ? { preconditions: { uid } } : {};
      await client.delete(resource, { cluster, namespace, name }, preconditions, signal);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  }
  return items.length;
}
