import type { KubeObject } from '../kube/object.ts';
import { addQuantity, formatQuantity, parseQuantity, type Quantity, zeroQuantity } from '../kube/quantity.ts';

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: { allocatable?: Record<string, string> };
}

/** Sums over the nodes that take pods: 0 of what only others have, which is not as if nothing were known. */
export function allocatable(all: Iterable<KubeObject>): Record<string, string> {
  const sums = new Map<string, Quantity>();
  for (const node of all as Iterable<Node>) {
    for (const [resource, amount] of Object.entries(node.status?.allocatable ?? {})) {
      const offered = quantity(amount);
      if (!offered) continue;
      const more = node.spec?.unschedulable ? zeroQuantity : offered;
      sums.set(resource, addQuantity(sums.get(resource) ?? zeroQuantity, more));
    }
  }
  return Object.fromEntries([...sums].map(([resource, sum]) => [resource, formatQuantity(sum)]));
}

function quantity(text: unknown): Quantity | undefined {
  try {
    return typeof text === 'string' ? parseQuantity(text) : undefined;
  } catch {
    return undefined;
  }
}
