import {
  addQuantity,
  compareQuantity,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from '../../kube/quantity.ts';
import type { Node, Pod } from '../types.ts';
import { isActive } from '../workloads/children.ts';

export type Binding = { node: string } | { unschedulable: string };

/** The node with the fewest pods among those that have room for its requests. */
export function chooseNode(pod: Pod, nodes: readonly Node[], pods: readonly Pod[]): Binding {
  const reasons = new Map<string, number>();
  const refuse = (reason: string) => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const fitting = nodes
    .map((node) => {
      const on = pods.filter((other) => other.spec?.nodeName === node.metadata.name && isActive(other));
      const why = refusal(pod, node, on);
      if (why) refuse(why);
      return { name: node.metadata.name ?? '', load: on.length, fits: why === undefined };
    })
    .filter((node) => node.fits)
    .sort((a, b) => a.load - b.load || a.name.localeCompare(b.name));
  const best = fitting[0];
  if (best) return { node: best.name };
  const why = [...reasons].map(([reason, n]) => `${n} ${reason}`).join(', ');
  return { unschedulable: `0/${nodes.length} nodes are available: ${why || 'no nodes'}.` };
}

function refusal(pod: Pod, node: Node, on: readonly Pod[]): string | undefined {
  if (node.spec?.unschedulable) return 'node(s) were unschedulable';
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  if (wanted.some(([k, v]) => node.metadata.labels?.[k] !== v))
    return "node(s) didn't match Pod's node selector";
  const room = node.status?.allocatable ?? {};
  if (on.length >= Number(room['pods'] ?? 110)) return 'Too many pods';
  for (const resource of ['cpu', 'memory']) {
    const total = [pod, ...on].reduce(
      (sum, each) => addQuantity(sum, requested(each, resource)),
      zeroQuantity,
    );
    if (compareQuantity(total, parseQuantity(room[resource] ?? '0')) > 0) return `Insufficient ${resource}`;
  }
  return undefined;
}

function requested(pod: Pod, resource: string): Quantity {
  return (pod.spec?.containers ?? []).reduce(
    (sum, container) => addQuantity(sum, parseQuantity(container.resources?.requests?.[resource] ?? '0')),
    zeroQuantity,
  );
}
