import type { Informer } from '../client/informer.ts';
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

/** What a cluster's nodes offer, summed up anew only once one of them has changed, or pods would leave one: it is asked with each heartbeat. */
export class Offered {
  readonly #nodes: Pick<Informer, 'hasSynced' | 'values'>;
  #known: { sums: Record<string, string>; from: number; until: number } | undefined;

  constructor(nodes: Pick<Informer, 'hasSynced' | 'values' | 'on'>) {
    this.#nodes = nodes;
    const forget = () => {
      this.#known = undefined;
    };
    nodes.on({ add: forget, update: forget, delete: forget });
  }

  /** Undefined while that is not known. `now`: in milliseconds since 1970, by a clock that somebody may set. */
  at(now: number): Record<string, string> | undefined {
    if (!this.#nodes.hasSynced) return undefined;
    if (!this.#known || now < this.#known.from || now >= this.#known.until) {
      let until = Number.POSITIVE_INFINITY;
      for (const node of this.#nodes.values()) {
        const end = toleratedUntil(node);
        if (end > now && end < until) until = end;
      }
      this.#known = { sums: allocatable(this.#nodes.values(), now), from: now, until };
    }
    return this.#known.sums;
  }
}

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
  return !node.spec?.unschedulable && now < toleratedUntil(node);
}

/** When pods leave a node that is not Ready, and stays so. */
function toleratedUntil(node: KubeObject): number {
  const conditions = listAt(at(node, 'status'), 'conditions');
  const ready = conditions.find((condition) => at(condition, 'type') === 'Ready');
  if (ready === undefined || textAt(ready, 'status') === 'True') return Number.POSITIVE_INFINITY;
  return (Date.parse(textAt(ready, 'lastTransitionTime') ?? '') || 0) + tolerationMs;
}

function quantity(text: unknown): Quantity | undefined {
  try {
    return typeof text === 'string' ? parseQuantity(text) : undefined;
  } catch {
    return undefined;
  }
}
