import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { labelSelectorFromObject } from '../../kube/selector.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { resources } from '../resources.ts';
import type { Pod, Workload } from '../types.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';
import { type DisruptionBudget, disruptionStatus } from './decide.ts';

/** Keeps the status of PodDisruptionBudgets: who moves pods away waits for what it allows. */
export function runDisruption(context: Context): Promise<void> {
  const { client, informers, signal, logger } = context;
  const queue = new WorkQueue();
  const budgets = informers.for<DisruptionBudget>(resources.disruptionBudgets);
  const pods = informers.for<Pod>(resources.pods);
  const owners = [resources.replicaSets, resources.statefulSets, resources.controllers].map((resource) =>
    informers.for<Workload>(resource),
  );
  const add = ({ metadata }: KubeObject) => queue.add(`${metadata.namespace}/${metadata.name}`);
  budgets.on({ add, update: (budget) => add(budget) });
  const inNamespace = ({ metadata: { namespace } }: KubeObject) =>
    budgets
      .list()
      .filter((budget) => budget.metadata.namespace === namespace)
      .forEach(add);
  for (const informer of [pods, ...owners])
    informer.on({ add: inNamespace, update: inNamespace, delete: inNamespace });
  const reconcile = async (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    const budget = await client
      .get<DisruptionBudget>(resources.disruptionBudgets, { namespace, name })
      .catch(ignoreMissing);
    if (!budget) return;
    const selector = labelSelectorFromObject(budget.spec?.selector);
    const selected = pods
      .list()
      .filter((pod) => pod.metadata.namespace === namespace && selector.matches(pod.metadata.labels));
    const every = owners.flatMap((informer) => informer.list());
    const status = disruptionStatus(budget, selected, every, timestamp(Date.now()));
    if (deepEqual(status, budget.status)) return;
    await client
      .patch(resources.disruptionBudgets, { namespace, name, subresource: 'status' }, 'merge', { status })
      .catch(ignoreMissing);
  };
  const ready = [budgets, pods, ...owners].map((informer) => informer.synced);
  return runController({ name: 'disruption', queue, reconcile, signal, logger, ready });
}
