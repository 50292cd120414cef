import { isReady } from '../../cluster/life.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import { own } from './definitions.ts';
import { type Family, figures } from './family.ts';

export interface Clusters {
  clusters(): Iterable<PhysicalCluster>;
  credentialsUntil(cluster: string): number | undefined;
}

/** Of each physical cluster whether its syncer reaches it, since when that has said nothing, and until when it is let in. */
export function clusterFamilies(known: Clusters, now: number): Family[] {
  const all = [...known.clusters()].map((cluster) => ({ labels: [cluster.metadata.name ?? ''], cluster }));
  return [
    figures(
      own.connected,
      all.map(({ labels, cluster }) => [labels, isReady(cluster) ? 1 : 0] as const),
    ),
    figures(
      own.credentials,
      all.flatMap(({ labels }) => {
        const until = known.credentialsUntil(labels[0] ?? '');
        return until === undefined ? [] : [[labels, until / 1000] as const];
      }),
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
