import type { InformerSet } from '../client/informers.ts';
import { parseKey } from '../client/url.ts';
import type { Fairness } from './queue.ts';

/**
 * Where to write about an object whose key came from these informers: its logical cluster when they read across
 * all, else wherever the client writes anyway (undefined), which is what a plain Kubernetes needs.
 */
export function clusterToWrite(informers: InformerSet, key: string): string | undefined {
  return informers.cluster === '*' ? parseKey(key).cluster : undefined;
}

/**
 * Of a queue whose keys are objects' keys. A logical cluster whose webhooks hang in each write has as many of them under
 * way as there are workers, which soon do others' work meanwhile, and no more.
 */
export function byLogicalCluster(workers: number): Fairness {
  return { partyOf: (key) => parseKey(key).cluster, most: workers };
}
