import type { Node, Plan, Pod, Workload } from '../types.ts';
import { count, isActive, podFor, templateHash } from './children.ts';

const hashKey = 'controller-revision-hash';

/** One pod on each node that its nodeSelector admits; an update replaces one pod at a time. */
export function decideDaemonSet(
  set: Workload,
  pods: readonly Pod[],
  nodes: readonly Node[],
  now: number,
): Plan<Pod> {
  const hash = templateHash(set.spec?.template ?? { spec: { containers: [] } });
  const wanted = set.spec?.template.spec.nodeSelector ?? {};
  const admits = (node: Node) => Object.entries(wanted).every(([k, v]) => node.metadata.labels?.[k] === v);
  const eligible = set.metadata.deletionTimestamp
    ? []
    : nodes.filter(admits).map((node) => node.metadata.name ?? '');
  const active = pods.filter(isActive);
  const covered = new Set(active.map((pod) => pod.spec?.nodeName));
  const surplus = active.filter((pod) => !eligible.includes(pod.spec?.nodeName ?? ''));
  const stale = active.filter((pod) => pod.metadata.labels?.[hashKey] !== hash && !surplus.includes(pod));
  const counts = count(active, set.spec?.minReadySeconds ?? 0, now);
  const replace = counts.ready === eligible.length ? stale.slice(0, 1) : [];
  return {
    create: eligible
      .filter((node) => !covered.has(node))
      .map((nodeName) => podFor(set, { nodeName, labels: { [hashKey]: hash } })),
    remove: [...surplus, ...replace].map((pod) => pod.metadata.name ?? ''),
    scale: [],
    status: {
      observedGeneration: set.metadata.generation ?? 0,
      currentNumberScheduled: active.length - surplus.length,
      desiredNumberScheduled: eligible.length,
      numberMisscheduled: surplus.length,
      numberReady: counts.ready,
      numberAvailable: counts.available,
      numberUnavailable: Math.max(0, eligible.length - counts.available),
      updatedNumberScheduled: active.length - stale.length - surplus.length,
    },
  };
}
