import {
  addQuantity,
  compareQuantity,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from '../../kube/quantity.ts';
import type { Container, Node, Pod } from '../types.ts';
import { isFinished } from '../workloads/children.ts';
import { repelledBy, selects } from './nodes.ts';

export type Binding = { node: string } | { unschedulable: string };

/** The node with the fewest pods among those that have room for its requests. */
export function chooseNode(pod: Pod, nodes: readonly Node[], pods: readonly Pod[]): Binding {
  if (nodes.length === 0) return { unschedulable: 'no nodes available to schedule pods' };
  const reasons = new Map<string, number>();
  const fitting: { name: string; load: number }[] = [];
  for (const node of nodes) {
    // One that is stopping still needs its room.
    const on = pods.filter((other) => other.spec?.nodeName === node.metadata.name && !isFinished(other));
    const why = refusals(pod, node, on);
    if (why.length === 0) fitting.push({ name: node.metadata.name ?? '', load: on.length });
    for (const reason of why) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  fitting.sort((a, b) => a.load - b.load || (a.name < b.name ? -1 : 1));
  const best = fitting[0];
  if (best) return { node: best.name };
  const why = [...reasons].map(([reason, n]) => `${n} ${reason}`).sort();
  return { unschedulable: `0/${nodes.length} nodes are available: ${why.join(', ')}.` };
}

/** All resources that are short; of the rest the first reason. */
function refusals(pod: Pod, node: Node, on: readonly Pod[]): string[] {
  const taint = repelledBy(pod.spec, node);
  if (node.spec?.unschedulable) return ['node(s) were unschedulable'];
  if (taint) return [`node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ''}}`];
  if (node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True'))
    return ['node(s) were not ready'];
  if (!selects(pod.spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const room = node.status?.allocatable ?? {};
  const short = ['cpu', 'memory'].filter((resource) => {
    const total = [pod, ...on].reduce(
      (all, each) => addQuantity(all, requested(each, resource)),
      zeroQuantity,
    );
    return compareQuantity(total, parseQuantity(room[resource] ?? '0')) > 0;
  });
  return [
    ...(on.length >= Number(room['pods'] ?? 110) ? ['Too many pods'] : []),
    ...short.map((resource) => `Insufficient ${resource}`),
  ];
}

/** The containers' sum, or the largest init container: they run one after the other, before. */
function requested(pod: Pod, resource: string): Quantity {
  const of = (container: Container) => parseQuantity(container.resources?.requests?.[resource] ?? '0');
  const together = (pod.spec?.containers ?? []).map(of).reduce(addQuantity, zeroQuantity);
  const larger = (a: Quantity, b: Quantity) => (compareQuantity(a, b) < 0 ? b : a);
  return (pod.spec?.initContainers ?? []).map(of).reduce(larger, together);
}
