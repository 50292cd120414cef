import { isReady } from '../../cluster/life.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import { own } from './definitions.ts';
import { type Family, figures } from './family.ts';

/** Of each physical cluster whether its syncer reaches it, and since when that has said nothing. */
export function clusterFamilies(clusters: Iterable<PhysicalCluster>, now: number): Family[] {
  const all = [...clusters].map((cluster) => ({ labels: [cluster.metadata.name ?? ''], cluster }));
  return [
    figures(
      own.connected,
      all.map(({ labels, cluster }) => [labels, isReady(cluster) ? 1 : 0] as const),
    ),
    figures(
      own.silence,
      all.map(({ labels, cluster }) => [labels, silenceOf(cluster, now)] as const),
    ),
  ];
}

function silenceOf({ status, metadata }: PhysicalCluster, now: number): number {
  const last = Date.parse(status?.lastHeartbeatTime ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(last) ? 0 : Math.max(0, (now - last) / 1000);
}
