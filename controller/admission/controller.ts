import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, parseKey, type ResourceRef } from '../../client/url.ts';
import { placedKinds } from '../../cluster/kinds.ts';
import { placements } from '../../cluster/names.ts';
import { podRefusal } from '../../cluster/pod-admission.ts';
import type { Placement } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { RuledKinds } from '../ruled.ts';
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
  const follow = (informer: Informer) => {
    const { resource } = informer;
    const tell = (object: KubeObject, key: string) => {
      const isRefused = podRefusal(object) !== undefined;
      const which = refused.note(resource, key, isRefused);
      // It was asked about just now.
      if (which) queue.addAfter(which, leastMs);
    };
    informer.on({
      add: tell,
      update: (now, _old, key) => tell(now, key),
      delete: (_object, key) => refused.note(resource, key, false),
    });
    return informer.synced;
  };
  const ready: Promise<unknown>[] = workloads.map((resource) => follow(informers.for(resource)));
  const ruled = new RuledKinds(informers, informers.for<Placement>(placements));
  ruled.on((informer) => void follow(informer));
  const wake = (key: string) => {
    for (const one of refused.in(parseKey(key).cluster)) queue.add(one);
  };
  for (const resource of configurations) {
    const informer = informers.for(resource);
    ready.push(informer.synced);
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
  which: string,
  refused: Refused,
  { client, informers, signal }: PodAdmissionOptions,
): Promise<Retry | undefined> {
  const found = refused.get(which);
  if (!found) return undefined;
  const { resource, key } = found;
  try {
    const target = { ...parseKey(key), cluster: clusterToWrite(informers, key) };
    const now = await client.patch(resource, target, 'merge', {}, { signal });
    return podRefusal(now) === undefined ? undefined : { after: 'growing' };
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

interface Which {
  resource: ResourceRef;
  key: string;
}

/** Those whose pods are refused, by logical cluster. */
class Refused {
  readonly #in = new Map<string, Map<string, Which>>();

  /** One that is new, as it is called in a queue. */
  note(resource: ResourceRef, key: string, isRefused: boolean): string | undefined {
    const { cluster, namespace, name } = parseKey(key);
    // No name has a colon.
    const which = keyOf(cluster, namespace, `${groupResource(resource)}:${name}`);
    const all = this.#in.get(cluster) ?? new Map<string, Which>();
    if (!isRefused) {
      if (all.delete(which) && all.size === 0) this.#in.delete(cluster);
      return undefined;
    }
    const isNew = !all.has(which);
    this.#in.set(cluster, all.set(which, { resource, key }));
    return isNew ? which : undefined;
  }

  get(which: string): Which | undefined {
    return this.#in.get(parseKey(which).cluster)?.get(which);
  }

  in(cluster: string): readonly string[] {
    return [...(this.#in.get(cluster)?.keys() ?? [])];
  }
}
