import { groupResource } from '../kube/gvk.ts';
import { conditionOf } from './life.ts';
import type { Condition, PhysicalCluster } from './types.ts';

const prefix = 'may not list ';

/** The condition `Readable`, of the kinds that may not be listed there, as `ingresses.networking.k8s.io`. */
export function readability(kinds: readonly string[]): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (kinds.length === 0)
    return { status: 'True', reason: 'Allowed', message: 'every kind in use may be read' };
  return { status: 'False', reason: 'Forbidden', message: `${prefix}${kinds.join(', ')}` };
}

/** What that says of one kind: of one that is not readable, what the cluster has is not known. */
export function isReadable(
  cluster: PhysicalCluster | undefined,
  kind: { group: string; resource: string },
): boolean {
  const said = cluster && conditionOf(cluster, 'Readable');
  if (said?.status !== 'False' || !said.message.startsWith(prefix)) return true;
  return !said.message.slice(prefix.length).split(', ').includes(groupResource(kind));
}
