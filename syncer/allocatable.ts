import type { KubeObject } from '../kube/object.ts';
import { addQuantity, formatQuantity, parseQuantity, type Quantity } from '../kube/quantity.ts';

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: { allocatable?: Record<string, string> };
}

/** Sums over the nodes that take pods. */
export function allocatable(all: Iterable<KubeObject>): Record<string, string> {
  const sums = new Map<string, Quantity>();
  for (const node of all as Iterable<Node>) {
    if (node.spec?.unschedulable) continue;
    for (const [resource, amount] of Object.entries(node.status?.allocatable ?? {})) {
      const more = quantity(amount);
      const sum = sums.get(resource);
      if (more) sums.set(resource, sum ? addQuantity(sum, more) : more);
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
