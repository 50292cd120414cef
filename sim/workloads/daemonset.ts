import { scaledIntOrPercent } from '../../kube/int-or-string.ts';
import { repelledBy, selects } from '../pods/nodes.ts';
import type { Node, Plan, Pod, Workload, WorkloadSpec } from '../types.ts';
import { count, isActive, isFinished, podFor, templateHash } from './children.ts';

const hashKey = 'controller-revision-hash';

export interface DaemonSetSpec extends WorkloadSpec {
  updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
}

/**
 * One pod on each node that its nodeSelector and tolerations admit; an update takes away at most maxUnavailable.
 * https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
 */
export function decideDaemonSet(
  set: Workload<DaemonSetSpec>,
  pods: readonly Pod[],
  nodes: readonly Node[],
  now: number,
): Plan<Pod> {
  const template = set.spec?.template ?? { spec: { containers: [] } };
  const hash = templateHash(template);
  const eligible = nodes
    .filter((node) => selects(template.spec, node) && !repelledBy(template.spec, node, daemonTolerates))
    .map((node) => node.metadata.name ?? '');
  const active = pods.filter(isActive);
  const kept = [...onePerNode(active, eligible).values()];
  const surplus = active.filter((pod) => !kept.includes(pod));
  const counts = count(kept, set.spec?.minReadySeconds ?? 0, now);
  const stale = kept.filter((pod) => pod.metadata.labels?.[hashKey] !== hash);
  const plan: Plan<Pod> = {
    create: [],
    remove: [],
    patch: [],
    status: {
      observedGeneration: set.metadata.generation ?? 0,
      currentNumberScheduled: kept.length,
      desiredNumberScheduled: eligible.length,
      numberMisscheduled: surplus.filter((pod) => !eligible.includes(pod.spec?.nodeName ?? '')).length,
      numberReady: counts.ready,
      numberAvailable: counts.available,
      numberUnavailable: Math.max(0, eligible.length - counts.available),
      updatedNumberScheduled: kept.length - stale.length,
    },
  };
  if (counts.afterMs !== undefined) plan.afterMs = counts.afterMs;
  if (set.metadata.deletionTimestamp !== undefined) return plan;
  const ended = pods.filter((pod) => isFinished(pod) && pod.metadata.deletionTimestamp === undefined);
  // One that is stopping still holds its node.
  const held = new Set(pods.map((pod) => pod.spec?.nodeName));
  plan.create = eligible
    .filter((node) => !held.has(node))
    .map((nodeName) => podFor(set, { nodeName, labels: { [hashKey]: hash } }));
  const replaced = outdated(set, stale, eligible.length - counts.available, eligible.length);
  plan.remove = [...surplus, ...ended, ...replaced].map((pod) => pod.metadata.name ?? '');
  return plan;
}

/** What every daemon pod tolerates without saying so. */
const daemonTolerates = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];

/** The oldest pod of each node that should have one. */
function onePerNode(active: readonly Pod[], eligible: readonly string[]): Map<string, Pod> {
  const born = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? '') || 0;
  const kept = new Map<string, Pod>();
  for (const pod of [...active].sort((a, b) => born(b) - born(a))) {
    const node = pod.spec?.nodeName ?? '';
    if (eligible.includes(node)) kept.set(node, pod);
  }
  return kept;
}

function outdated(
  set: Workload<DaemonSetSpec>,
  stale: readonly Pod[],
  unavailable: number,
  desired: number,
): Pod[] {
  if (set.spec?.updateStrategy?.type === 'OnDelete') return [];
  const bound = set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  const most = Math.max(1, scaledIntOrPercent(bound, desired, 'up'));
  return stale.slice(0, Math.max(0, most - unavailable));
}
