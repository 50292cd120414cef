import { physicalClusters, rootCluster } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { Informer } from './informer.ts';
import type { InformerSet } from './informers.ts';

/** Those that are registered, in root: whatever bears that kind in another logical cluster says nothing of where anything runs. */
export function physicalClusterInformer(informers: Pick<InformerSet, 'for'>): Informer<PhysicalCluster> {
  return informers.for<PhysicalCluster>(physicalClusters, { cluster: rootCluster });
}
