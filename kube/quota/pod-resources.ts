import type { Quantity } from '../quantity.ts';
import { at, isRecord, records } from '../untyped.ts';
import { addTo, type ResourceList, raiseTo, readList } from './list.ts';

type Kind = 'requests' | 'limits';

const podLevel = ['cpu', 'memory'];

function isPodLevel(name: string): boolean {
  return podLevel.includes(name) || name.startsWith('hugepages-');
}

/** Something that the pod as a whole may state is stated for it; then its containers need not. */
export function hasPodLevelResources(pod: unknown, kinds: readonly Kind[] = ['requests', 'limits']): boolean {
  return kinds.some((kind) => {
    const stated = at(pod, 'spec', 'resources', kind);
    return isRecord(stated) && Object.keys(stated).some(isPodLevel);
  });
}

/**
 * What a pod asks for, as its scheduler and its quota see it: containers and sidecars at once, or an init container beside
 * the sidecars before it; what is stated for the pod as a whole goes before that; and its overhead.
 * https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
 */
export function podRequests(pod: unknown): Map<string, Quantity> {
  const total = ofContainers(pod, 'requests');
  if (hasPodLevelResources(pod, ['requests'])) takePodLevel(total, pod, 'requests');
  addTo(total, readList(at(pod, 'spec', 'overhead')));
  return total;
}

/** Overhead counts where there is a limit at all. */
export function podLimits(pod: unknown): Map<string, Quantity> {
  const total = ofContainers(pod, 'limits');
  if (hasPodLevelResources(pod)) takePodLevel(total, pod, 'limits');
  const limited = [...readList(at(pod, 'spec', 'overhead'))].filter(
    ([name]) => (total.get(name)?.value ?? 0n) !== 0n,
  );
  addTo(total, new Map(limited));
  return total;
}

/** Without status and overhead, as LimitRanges look at it. */
export function statedTotal(pod: unknown, kind: Kind): Map<string, Quantity> {
  const total = ofContainers({ spec: at(pod, 'spec') }, kind);
  for (const [name, amount] of readList(at(pod, 'spec', 'resources', kind)))
    if (podLevel.includes(name)) total.set(name, amount);
  return total;
}

function takePodLevel(total: Map<string, Quantity>, pod: unknown, kind: Kind): void {
  for (const [name, amount] of readList(at(pod, 'spec', 'resources', kind)))
    if (isPodLevel(name)) total.set(name, amount);
}

function ofContainers(pod: unknown, kind: Kind): Map<string, Quantity> {
  const infeasible = isResizeInfeasible(pod);
  const statuses = new Map(
    ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      records(at(pod, 'status', list)).map((status) => [status['name'], status] as const),
    ),
  );
  const effective = (container: Record<string, unknown>): ResourceList => {
    const stated = readList(at(container, 'resources', kind));
    const status = statuses.get(container['name'] as string);
    if (!isRecord(at(status, 'resources'))) return stated;
    const most = new Map(infeasible ? [] : stated);
    raiseTo(most, readList(at(status, 'resources', kind)));
    if (kind === 'requests') raiseTo(most, readList(at(status, 'allocatedResources')));
    return most;
  };
  const total = new Map<string, Quantity>();
  for (const container of records(at(pod, 'spec', 'containers'))) addTo(total, effective(container));
  const sidecars = new Map<string, Quantity>();
  const most = new Map<string, Quantity>();
  for (const container of records(at(pod, 'spec', 'initContainers'))) {
    if (container['restartPolicy'] === 'Always') {
      const own = effective(container);
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(most, sidecars);
    } else {
      const beside = readList(at(container, 'resources', kind));
      addTo(beside, sidecars);
      raiseTo(most, beside);
    }
  }
  raiseTo(total, most);
  return total;
}

/** The node cannot give what was asked for last: what it gave counts. */
function isResizeInfeasible(pod: unknown): boolean {
  const pending = records(at(pod, 'status', 'conditions')).find(({ type }) => type === 'PodResizePending');
  return pending?.['reason'] === 'Infeasible';
}
