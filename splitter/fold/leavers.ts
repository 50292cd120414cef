import { kindNamed } from '../../cluster/kinds.ts';
import { fenceposts } from '../../cluster/rolling.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, numberAt } from '../../kube/untyped.ts';
import { isGoing } from '../traffic.ts';
import { countOf, type FoldPart, sum } from './part.ts';

const counters = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'updatedReplicas',
  'currentReplicas',
  'fullyLabeledReplicas',
];

/**
 * What leaves fills up what those that stay do not have yet, and counts beyond that only as a surge would: the user
 * of one cluster never sees 12 of 6.
 */
export function withinSurge(root: KubeObject, parts: readonly FoldPart[]): FoldPart[] {
  const spread = kindNamed(root.kind)?.spread;
  if (spread !== 'counts' && spread !== 'ranges') return [...parts];
  const total = numberAt(root, 'spec', 'replicas') ?? 1;
  const staying = parts.filter(({ share }) => !isGoing(share));
  let room = Math.max(0, total + maxSurge(root, total) - sum(staying, 'replicas'));
  return parts.map((part) => {
    if (!isGoing(part.share)) return part;
    const most = Math.min(room, countOf(part, 'replicas'));
    room -= most;
    const kept = counters.filter((field) => at(part.status, field) !== undefined);
    const counts = kept.map((field) => [field, Math.min(most, countOf(part, field))]);
    const { unavailableReplicas: _, ...status } = part.status;
    return { ...part, status: { ...status, ...Object.fromEntries(counts) } };
  });
}

function maxSurge(root: KubeObject, total: number): number {
  if (root.kind !== 'Deployment' || at(root, 'spec', 'strategy', 'type') === 'Recreate') return 0;
  return fenceposts(root.spec, total).maxSurge;
}
