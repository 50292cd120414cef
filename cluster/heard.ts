import { isReady } from './life.ts';
import type { PhysicalCluster, Share } from './types.ts';

/**
 * When a cluster last said that it is there, in milliseconds since 1970; undefined while it is not Ready: its API
 * does not answer, or its syncer has been silent for longer than the grace.
 */
export function heardAt(cluster: PhysicalCluster | undefined): number | undefined {
  if (!cluster || !isReady(cluster)) return undefined;
  return Date.parse(cluster.status?.lastHeartbeatTime ?? '') || 0;
}

/** The moment after which its cluster must have been heard of before others go on a share's strength. */
export function askedSince({
  readySince,
  heardSince,
}: Pick<Share, 'readySince' | 'heardSince'>): number | undefined {
  const times = [readySince, heardSince].flatMap((text) => (text === undefined ? [] : [Date.parse(text)]));
  return times.length > 0 ? Math.max(...times) : undefined;
}
