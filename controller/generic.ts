import type { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import type { Logger } from '../kube/log.ts';
import { runDefinitionController } from './definition/controller.ts';
import { runGarbageCollector } from './gc/controller.ts';
import { runNamespaceController } from './namespace/controller.ts';
import { runProtectionController } from './protection/controller.ts';
import { runQuotaController } from './quota/controller.ts';
import { runTokensController, type SignToken } from './tokens/controller.ts';
import { runTtlController } from './ttl/controller.ts';
import { runEventsEnd } from './ttl/events.ts';

export interface GenericControllersOptions {
  /** As whom they write. */
  client: Client;
  /** With cluster `*` for all logical clusters, without one for a plain Kubernetes. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** PEM, for every namespace's kube-root-ca.crt. */
  rootCa?: string | undefined;
  /** See GarbageCollectorOptions. */
  rediscoverMs?: number;
  /** Fills Secrets of ServiceAccounts' tokens; without it none are. */
  sign?: SignToken | undefined;
}

/** What any Kubernetes API needs behind it. Resolves when all have stopped, after `signal` aborted. */
export async function startGenericControllers(options: GenericControllersOptions): Promise<void> {
  await Promise.all([startClusterControllers(options), runEventsEnd(options)]);
}

/** Of them, those to which each logical cluster is one by itself: the informers may be of some of them only. */
export async function startClusterControllers(options: GenericControllersOptions): Promise<void> {
  const { sign } = options;
  await Promise.all([
    runDefinitionController(options),
    runNamespaceController(options),
    runGarbageCollector(options),
    runProtectionController(options),
    runQuotaController(options),
    runTtlController(options),
    ...(sign ? [runTokensController({ ...options, sign })] : []),
  ]);
}

/** What kube-apiserver does itself, with no kube-controller-manager beside it. */
export async function startServerControllers(options: GenericControllersOptions): Promise<void> {
  await Promise.all([runDefinitionController(options), runEventsEnd(options)]);
}
