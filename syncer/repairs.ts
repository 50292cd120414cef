import type { KubeObject } from '../kube/object.ts';
import { fingerprint, manifestDigest, type TargetRecord } from './records.ts';

/** After so long without a repair the next is the first. */
const quietMs = 300_000;

/**
 * How long to wait; 0: go on. The first repair is at once; a fight, over fields or over whether it is there at all, slows
 * down to one a minute.
 */
export function repairDelay(
  record: TargetRecord,
  cached: KubeObject | undefined,
  manifest: KubeObject,
  now = Date.now(),
): number {
  const { applied } = record;
  if (!applied || record.manifest !== manifestDigest(manifest)) return 0;
  const isAsApplied = cached && record.fingerprint === fingerprint(cached, manifest);
  if (cached && (applied.uid !== cached.metadata.uid || isAsApplied)) return 0;
  return Math.max(0, record.repairNotBefore - now);
}

/** At most one write in this time of what changes with every pod of another cluster: a rollout's many steps become a few. */
const paceMs = 250;

/** How long to wait with a new manifest; 0: go on. */
export function paceDelay({ writtenAt = 0 }: Pick<TargetRecord, 'writtenAt'>, now = Date.now()): number {
  return Math.max(0, writtenAt + paceMs - now);
}

/** Of what was written, and that alone: an attempt that failed, or found nothing to do, is no part of a fight. */
export function noteWritten(record: TargetRecord, manifest: string, now = Date.now()): void {
  const isRepair = record.applied !== undefined && record.manifest === manifest;
  const isQuiet = now - record.repairNotBefore >= quietMs;
  record.repairs = isRepair ? (isQuiet ? 1 : record.repairs + 1) : 0;
  record.repairNotBefore = 0;
  record.writtenAt = now;
  if (isRepair) record.repairNotBefore = now + Math.min(60_000, 100 * 2 ** Math.min(record.repairs, 10));
}
