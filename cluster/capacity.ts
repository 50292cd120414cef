import { compareQuantity, formatQuantity, type Quantity } from '../kube/quantity.ts';
import { at } from '../kube/untyped.ts';
import { conditionOf, formerKubeconfig, readyOf } from './life.ts';
import { quantityOf, type Resources } from './pod-spec.ts';
import type { PhysicalCluster } from './types.ts';

/** Beside other clusters, in whatever unit the administrator counts. */
export function costOf(cluster: PhysicalCluster | undefined): number {
  return cluster?.spec?.cost ?? 0;
}

const none: Resources = new Map();
/** An object never changes, and each is asked about for each workload. */
const known = new WeakMap<PhysicalCluster, Resources>();

/** By resource, the lower of the administrator's bound and what its nodes offer. */
export function limitsOf(cluster: PhysicalCluster | undefined): Resources {
  if (!cluster) return none;
  const limits = known.get(cluster) ?? readLimits(cluster);
  known.set(cluster, limits);
  return limits;
}

function readLimits(cluster: PhysicalCluster): Resources {
  const limits = new Map<string, Quantity>();
  for (const bounds of [at(cluster, 'spec', 'capacity'), at(cluster, 'status', 'allocatable')]) {
    for (const [name, text] of Object.entries(bounds ?? {})) {
      const bound = quantityOf(text);
      const known = limits.get(name);
      if (!known || compareQuantity(bound, known) < 0) limits.set(name, bound);
    }
  }
  return limits;
}

/** It was asked, and has no node: whatever its administrator lets it have, nothing runs there until one comes. */
export function hasNoNodes(cluster: PhysicalCluster | undefined): boolean {
  const offered = cluster?.status?.allocatable;
  return offered !== undefined && Object.keys(offered).length === 0;
}

/** `96`, or `1 of 96` where the administrator's bound is what counts. */
export function shownLimit(cluster: PhysicalCluster, resource: string): string {
  if (hasNoNodes(cluster)) return '0';
  const counts = limitsOf(cluster).get(resource);
  if (counts === undefined) return '<unknown>';
  const offered = cluster.status?.allocatable?.[resource];
  const bound = offered === undefined || compareQuantity(counts, quantityOf(offered)) < 0;
  return bound ? `${formatQuantity(counts)} of ${offered ?? '<unknown>'}` : formatQuantity(counts);
}

/** What its conditions say while it is not Ready, will not be for long by its kubeconfig, or keeps kinds from being read; else nothing. */
export function whyNotReady(cluster: PhysicalCluster): string {
  const ready = readyOf(cluster);
  if (ready === undefined) return 'its syncer has not reported';
  if (ready.status !== 'True' || ready.reason === formerKubeconfig) return ready.message;
  const readable = conditionOf(cluster, 'Readable');
  if (readable?.status === 'False') return readable.message;
  if (cluster.metadata.deletionTimestamp === undefined) return '';
  const empty = conditionOf(cluster, 'Empty');
  return `it is being removed${empty?.status === 'False' ? `: ${empty.message}` : ''}`;
}
