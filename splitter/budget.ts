import { kindNamed, type WorkloadKindName } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { IntOrStringError, scaledIntOrPercent } from '../kube/int-or-string.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt } from '../kube/untyped.ts';
import { divide } from './divide.ts';
import type { Shares } from './plan.ts';

/** Whose updates a share bounds; a StatefulSet's go one by one in each cluster, a DaemonSet's by what runs there. */
const hasBudget: Record<WorkloadKindName, boolean> = {
  Deployment: true,
  StatefulSet: false,
  DaemonSet: false,
  ReplicaSet: false,
  ReplicationController: false,
  Pod: false,
  Job: false,
  CronJob: false,
};

/** How many pods more, and how many fewer, than it is to have an update may have at a time. */
interface Budget {
  maxSurge: number;
  maxUnavailable: number;
}

/**
 * A Deployment's rolling update budget, divided like its replicas, so that the clusters together surge and miss
 * no more than one would. Percentages are resolved against the whole, rounded as Kubernetes does. An update never ends
 * where a cluster has neither: who has more than one gives it one, and where that is not enough for all it gets
 * a surge of one beyond the budget. One target alone keeps what the user wrote.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function withBudgets(root: KubeObject, shares: Shares): Shares {
  const kind = kindNamed(root.kind);
  if (kind?.role !== 'workload' || !hasBudget[kind.kind]) return shares;
  const plain = Object.entries(shares).map(([c, share]): [string, Share] => [c, withoutBudget(share)]);
  const running = plain.filter(([, share]) => share.phase !== 'Leaving' && (share.replicas ?? 0) > 0);
  if (running.length < 2 || at(root, 'spec', 'strategy', 'type') === 'Recreate') {
    return Object.fromEntries(plain);
  }
  const budgets = budgetsOf(root, new Map(running.map(([c, share]) => [c, share.replicas ?? 0])));
  return Object.fromEntries(plain.map(([c, share]) => [c, { ...share, ...budgets.get(c) }]));
}

function budgetsOf(root: KubeObject, weights: ReadonlyMap<string, number>): ReadonlyMap<string, Budget> {
  const names = [...weights.keys()].sort();
  const total = numberAt(root, 'spec', 'replicas') ?? 1;
  const rolling = at(root, 'spec', 'strategy', 'rollingUpdate');
  const surge = divide(resolve(at(rolling, 'maxSurge'), total, 'up'), names, new Map(), weights);
  const missing = divide(resolve(at(rolling, 'maxUnavailable'), total, 'down'), names, new Map(), weights);
  const budgets = new Map(
    names.map((c) => [c, { maxSurge: surge.get(c) ?? 0, maxUnavailable: missing.get(c) ?? 0 }]),
  );
  for (const budget of budgets.values()) if (sum(budget) === 0) giveOne(budget, [...budgets.values()]);
  return budgets;
}

/** Of whoever has most, if that is more than one: a pod that may miss, sooner than one that may come on top. */
function giveOne(poor: Budget, all: readonly Budget[]): void {
  const rich = all.reduce((most, budget) => (sum(budget) > sum(most) ? budget : most), poor);
  if (sum(rich) < 2) {
    poor.maxSurge = 1;
    return;
  }
  const which = rich.maxUnavailable > 0 ? 'maxUnavailable' : 'maxSurge';
  rich[which]--;
  poor[which]++;
}

const sum = ({ maxSurge, maxUnavailable }: Budget) => maxSurge + maxUnavailable;

function withoutBudget({ maxSurge: _surge, maxUnavailable: _missing, ...share }: Share): Share {
  return share;
}

/** Absent: the default of 25 %. */
function resolve(value: unknown, total: number, rounding: 'up' | 'down'): number {
  const written = typeof value === 'number' || typeof value === 'string' ? value : '25%';
  try {
    return Math.max(0, Math.min(1_000_000, scaledIntOrPercent(written, total, rounding)));
  } catch (error) {
    if (error instanceof IntOrStringError) return 0;
    throw error;
  }
}
