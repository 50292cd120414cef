import type { KubeObject } from '../kube/object.ts';
import { addQuantity, formatQuantity, parseQuantity, type Quantity, zeroQuantity } from '../kube/quantity.ts';
import { at, listAt, textAt } from '../kube/untyped.ts';

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: unknown };
  status?: { allocatable?: Record<string, string> };
}

const controlPlane = new Set(['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']);
/** For as long pods tolerate a node that is not Ready, unless they say otherwise: one that is back by then has them still. */
const tolerationMs = 300_000;

/**
 * Sums over the nodes that take pods: 0 of what only others have, which is not as if nothing were known. Those of the control plane count
 * where there are no others, as then they are meant to run what comes. `now`: in milliseconds since 1970.
 */
export function allocatable(all: Iterable<KubeObject>, now: number): Record<string, string> {
  const sums = new Map<string, Quantity>();
  const nodes = [...(all as Iterable<Node>)];
  const hasWorkers = !nodes.every(isReserved);
  for (const node of nodes) {
    for (const [resource, amount] of Object.entries(node.status?.allocatable ?? {})) {
      const offered = quantity(amount);
      if (!offered) continue;
      const isMeant = takesPods(node, now) && !(hasWorkers && isReserved(node));
      const more = isMeant ? offered : zeroQuantity;
      sums.set(resource, addQuantity(sums.get(resource) ?? zeroQuantity, more));
    }
  }
  return Object.fromEntries([...sums].map(([resource, sum]) => [resource, formatQuantity(sum)]));
}

/** Tainted as one of the control plane, which hardly anything that runs there tolerates but what the cluster itself runs. */
function isReserved({ spec }: Node): boolean {
  return listAt(spec, 'taints').some(
    (taint) => controlPlane.has(textAt(taint, 'key') ?? '') && textAt(taint, 'effect') !== 'PreferNoSchedule',
  );
}

function takesPods(node: Node, now: number): boolean {
  if (node.spec?.unschedulable) return false;
  const ready = listAt(node.status, 'conditions').find((condition) => at(condition, 'type') === 'Ready');
  if (ready === undefined || textAt(ready, 'status') === 'True') return true;
  const since = Date.parse(textAt(ready, 'lastTransitionTime') ?? '') || 0;
  return now - since < tolerationMs;
}

function quantity(text: unknown): Quantity | undefined {
  try {
    return typeof text === 'string' ? parseQuantity(text) : undefined;
  } catch {
    return undefined;
  }
}
