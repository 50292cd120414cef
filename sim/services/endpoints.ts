import { managedByLabel, serviceNameLabel, sliceController } from '../../cluster/endpoints.ts';
import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, mapAt, textAt } from '../../kube/untyped.ts';
import { resources } from '../resources.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';

const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;

/** One slice for each Service that selects pods, `afterMs` after these have changed. */
export function runEndpoints(context: Context, afterMs: number): Promise<void> {
  const { client, informers, signal, logger } = context;
  const queue = new WorkQueue();
  const [services, pods] = [informers.for(resources.services), informers.for(resources.pods)];
  const add = ({ metadata: { namespace, name } }: KubeObject) =>
    queue.addAfter(`${namespace}/${name}`, afterMs);
  services.on({ add, update: (service) => add(service), delete: add });
  const ofPod = (pod: KubeObject, old?: KubeObject | string) => {
    const all = typeof old === 'object' ? [pod, old] : [pod];
    for (const service of services.values()) if (all.some((one) => selects(service, one))) add(service);
  };
  pods.on({ add: (pod) => ofPod(pod), update: ofPod, delete: (pod) => ofPod(pod) });
  const reconcile = async (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    const service = await client.get(resources.services, { namespace, name }).catch(ignoreMissing);
    if (!service || !mapAt(service.spec, 'selector')) return;
    const made = sliceOf(service, [...pods.values()]);
    const there = { namespace, name: made.metadata.name ?? '' };
    const found = await client.get(slices, there).catch(ignoreMissing);
    if (!found) await client.create(slices, made, { namespace });
    else await client.patch(slices, there, 'merge', { endpoints: made['endpoints'] }).catch(ignoreMissing);
  };
  const ready = [services.synced, pods.synced];
  return runController({ name: 'endpointslices', queue, reconcile, signal, logger, ready });
}

function selects({ metadata, spec }: KubeObject, pod: KubeObject): boolean {
  const selector = Object.entries(mapAt(spec, 'selector') ?? {});
  const { namespace, labels = {} } = pod.metadata;
  return (
    namespace === metadata.namespace && selector.length > 0 && selector.every(([k, v]) => labels[k] === v)
  );
}

function sliceOf(service: KubeObject, pods: readonly KubeObject[]): KubeObject {
  const { name = '', namespace = '', uid = '' } = service.metadata;
  const endpoints = pods.flatMap((pod) => {
    const ip = textAt(pod.status, 'podIP');
    if (ip === undefined || !selects(service, pod)) return [];
    const serving = listAt(pod.status, 'conditions').some(
      (condition) => at(condition, 'type') === 'Ready' && at(condition, 'status') === 'True',
    );
    const terminating = pod.metadata.deletionTimestamp !== undefined;
    const targetRef = { kind: 'Pod', namespace, name: pod.metadata.name, uid: pod.metadata.uid };
    return [
      { addresses: [ip], conditions: { ready: serving && !terminating, serving, terminating }, targetRef },
    ];
  });
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-sim`,
      namespace,
      labels: { [serviceNameLabel]: name, [managedByLabel.slice]: sliceController },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    addressType: 'IPv4',
    endpoints,
    ports: listAt(service.spec, 'ports').map((port) => ({
      name: '',
      protocol: 'TCP',
      port: at(port, 'port'),
    })),
  };
}
