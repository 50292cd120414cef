import type { Client } from '../../client/client.ts';
import { resources } from '../resources.ts';
import type { Node, Pod, Workload } from '../types.ts';
import { type Context, runWorkloads, type WorkloadController } from './controller.ts';
import { decideDaemonSet } from './daemonset.ts';
import { decideDeployment } from './deployment.ts';
import { decideJob } from './job.ts';
import { decideReplicaSet } from './replicaset.ts';
import { decideStatefulSet } from './statefulset.ts';

/** The built-in workload controllers, as a simulated cluster has them. Resolves when all have stopped. */
export async function runWorkloadControllers(context: Context): Promise<void> {
  await Promise.all(kinds(context.client).map((kind) => runWorkloads(kind, context)));
}

function kinds(client: Client): WorkloadController[] {
  const { pods, nodes, controllers, deployments, replicaSets, statefulSets, daemonSets, jobs } = resources;
  const now = Date.now;
  return [
    {
      name: 'deployment',
      resource: deployments,
      children: replicaSets,
      decide: (object, sets) => decideDeployment(object as Workload, sets as Workload[], now()),
    },
    {
      name: 'replicaset',
      resource: replicaSets,
      children: pods,
      saysFailure: true,
      decide: (object, owned) => decideReplicaSet(object as Workload, owned as Pod[], now()),
    },
    {
      name: 'replicationcontroller',
      resource: controllers,
      children: pods,
      saysFailure: true,
      decide: (object, owned) => decideReplicaSet(object as Workload, owned as Pod[], now()),
    },
    {
      name: 'statefulset',
      resource: statefulSets,
      children: pods,
      decide: (object, owned) => decideStatefulSet(object as Workload, owned as Pod[], now()),
    },
    {
      name: 'daemonset',
      resource: daemonSets,
      children: pods,
      wakes: [nodes],
      decide: async (object, owned) => {
        const { items } = await client.list<Node>(nodes);
        return decideDaemonSet(object as Workload, owned as Pod[], items, now());
      },
    },
    {
      name: 'job',
      resource: jobs,
      children: pods,
      decide: (object, owned) => decideJob(object as Workload, owned as Pod[], now()),
    },
  ];
}
