import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import type { KubeObject } from '../../kube/object.ts';
import { resources } from '../resources.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';
import { boundStatus, type ClaimSpec, loadBalancerStatus } from './decide.ts';

/** The parts of a cloud that workloads wait for: load balancer addresses and volumes. */
export async function runServices(context: Context): Promise<void> {
  let addresses = 1;
  await Promise.all([
    fill(context, resources.services, (service) =>
      loadBalancerStatus(service as KubeObject<{ type?: string }>, () => {
        const n = addresses++;
        return `10.${192 + ((n >> 16) & 15)}.${(n >> 8) & 255}.${n & 255}`;
      }),
    ),
    fill(context, resources.claims, (claim) =>
      boundStatus(claim as KubeObject<ClaimSpec, { phase?: string }>),
    ),
  ]);
}

function fill(
  context: Context,
  resource: (typeof resources)[keyof typeof resources],
  statusOf: (object: KubeObject) => Record<string, unknown> | undefined,
): Promise<void> {
  const { client, informers, signal, logger } = context;
  const queue = new WorkQueue();
  const cache = informers.for(resource);
  const add = (object: KubeObject) => queue.add(`${object.metadata.namespace}/${object.metadata.name}`);
  cache.on({ add, update: (object) => add(object), delete: () => {} });
  const reconcile = async (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    const object = await client.get(resource, { namespace, name }).catch(ignoreMissing);
    const status = object && statusOf(object);
    if (!status) return;
    await client
      .patch(resource, { namespace, name, subresource: 'status' }, 'merge', { status })
      .catch(ignoreMissing);
  };
  return runController({ name: resource.resource, queue, reconcile, signal, logger, ready: [cache.synced] });
}
