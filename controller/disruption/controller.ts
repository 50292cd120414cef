import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey } from '../../client/url.ts';
import { placements } from '../../cluster/names.ts';
import { placementName } from '../../cluster/placement.ts';
import type { Placement } from '../../cluster/types.ts';
import type { Logger } from '../../kube/log.ts';
import { isStatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { commit } from '../commit.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { type Budget, statusOfNoPods } from './decide.ts';

export interface DisruptionControllerOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
const workers = 2;
/** A budget goes along with its pods: most are placed soon after they are made. */
const placedSoonMs = 200;

/**
 * Woken by PodDisruptionBudgets and the end of their Placements. Writes the status of those that are placed nowhere, for
 * which no physical cluster speaks. Resolves when stopped.
 */
export function runDisruptionController(options: DisruptionControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Budget>(budgets);
  const records = informers.for<Placement>(placements);
  const soon = (key: string) => queue.addAfter(key, placedSoonMs);
  all.on({ add: (_budget, key) => soon(key), update: (_now, _old, key) => soon(key) });
  records.on({
    delete: (placement) => {
      const { ref } = placement.spec ?? {};
      if (ref?.resource !== budgets.resource) return;
      soon(keyOf(logicalClusterOf(placement), placement.metadata.namespace ?? '', ref.name));
    },
  });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const budget = all.get(key);
    if (!budget || budget.metadata.deletionTimestamp) return undefined;
    const { cluster, namespace, name } = parseKey(key);
    if (records.get(keyOf(cluster, namespace, placementName({ ...budgets, name })))) return undefined;
    const status = statusOfNoPods(budget, timestamp());
    if (!status) return undefined;
    try {
      const where = { cluster: clusterToWrite(informers, key), signal };
      await commit(client, budgets, budget, { ...budget, status }, where);
    } catch (error) {
      // Somebody else has written it: that wakes again.
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    }
    return undefined;
  };
  const ready = [all.synced, records.synced];
  return runController({ name: 'disruption', queue, workers, reconcile, signal, logger, ready });
}
