import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, parseKey, type ResourceRef } from '../../client/url.ts';
import { placedKinds } from '../../cluster/kinds.ts';
import { podRefusal } from '../../cluster/pod-admission.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';

export interface PodAdmissionOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

/** Each may wait for a webhook as long as that may take. */
const workers = 4;
const leastMs = 1_000;
const mostMs = 60_000;

const registration = { group: 'admissionregistration.k8s.io', version: 'v1' };
/** Whoever refused may be another, or be there no more, after a change of one of these. */
const configurations = [
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
].map((resource): ResourceRef => ({ ...registration, resource }));
const workloads = placedKinds.filter(({ role, kind }) => role === 'workload' && kind !== 'Pod');

/**
 * Woken by workloads whose pods are refused, and by what decides about those. Writes nothing: it touches the workload, and whoever
 * writes one whose pods are refused has them asked about once more. Again and again, later each time, until they are admitted.
 * Resolves when stopped.
 */
export function runPodAdmissionController(options: PodAdmissionOptions): Promise<void> {
  const { informers, signal, logger } = options;
  const fair = byLogicalCluster(workers);
  const queue = new WorkQueue({ baseDelayMs: leastMs, maxDelayMs: mostMs, fair });
  const refused = new Refused();
  const ready: Promise<unknown>[] = [];
  for (const resource of workloads) {
    const informer = informers.for(resource);
    ready.push(informer.synced);
    const tell = (object: KubeObject, key: string) => {
      const which = named(resource, key);
      // What it is by now, it is after it was asked just now.
      if (refused.note(which, podRefusal(object) !== undefined)) queue.addAfter(which, leastMs);
    };
    informer.on({
      add: tell,
      update: (now, _old, key) => tell(now, key),
      delete: (_object, key) => refused.note(named(resource, key), false),
    });
  }
  for (const resource of configurations) {
    const informer = informers.for(resource);
    ready.push(informer.synced);
    const wake = (key: string) => {
      for (const one of refused.in(parseKey(key).cluster)) queue.add(one);
    };
    informer.on({
      add: (_one, key) => wake(key),
      update: (now, old, key) => now.metadata.generation !== old.metadata.generation && wake(key),
      delete: (_one, key) => wake(key),
    });
  }
  const reconcile = (key: string) => askAgain(key, refused, options);
  return runController({ name: 'pod-admission', queue, workers, reconcile, signal, logger, ready });
}

async function askAgain(
  key: string,
  refused: Refused,
  { client, informers, signal }: PodAdmissionOptions,
): Promise<Retry | undefined> {
  const { resource, at } = resourceOf(key);
  if (!resource || !refused.has(key)) return undefined;
  try {
    const target = { ...parseKey(at), cluster: clusterToWrite(informers, at) };
    const now = await client.patch(resource, target, 'merge', {}, { signal });
    return podRefusal(now) === undefined ? undefined : { after: 'growing' };
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Those whose pods are refused, by logical cluster. */
class Refused {
  readonly #in = new Map<string, Set<string>>();

  /** True where that is new. */
  note(key: string, isRefused: boolean): boolean {
    const { cluster } = parseKey(key);
    const all = this.#in.get(cluster) ?? new Set();
    if (!isRefused) {
      if (all.delete(key) && all.size === 0) this.#in.delete(cluster);
      return false;
    }
    const isNew = !all.has(key);
    this.#in.set(cluster, all.add(key));
    return isNew;
  }

  has(key: string): boolean {
    return this.#in.get(parseKey(key).cluster)?.has(key) === true;
  }

  in(cluster: string): readonly string[] {
    return [...(this.#in.get(cluster) ?? [])];
  }
}

/** No name has a colon. */
function named(resource: ResourceRef, key: string): string {
  const { cluster, namespace, name } = parseKey(key);
  return keyOf(cluster, namespace, `${groupResource(resource)}:${name}`);
}

function resourceOf(key: string): { resource: ResourceRef | undefined; at: string } {
  const { cluster, namespace, name } = parseKey(key);
  const colon = name.indexOf(':');
  const resource = workloads.find((one) => groupResource(one) === name.slice(0, colon));
  return { resource, at: keyOf(cluster, namespace, name.slice(colon + 1)) };
}
