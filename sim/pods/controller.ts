import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { isStatusError } from '../../kube/status.ts';
import { resources } from '../resources.ts';
import type { Node, Pod } from '../types.ts';
import { timestamp } from '../workloads/children.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';
import { type Behaviour, behaviourOf } from './behaviour.ts';
import { chooseNode } from './bind.ts';
import { DrawNames } from './draw-names.ts';
import { nextStep } from './lifecycle.ts';

export interface PodOptions {
  behaviours: readonly Behaviour[];
  seed: number;
}

/** Scheduler and kubelets in one: binds pods, makes them ready, ends them, as their behaviour says. */
export function runPods(context: Context, options: PodOptions): Promise<void> {
  const { client, informers, signal, logger } = context;
  const queue = new WorkQueue({ maxDelayMs: 2000 });
  const pods = informers.for<Pod>(resources.pods);
  const nodes = informers.for<Node>(resources.nodes);
  const keyOf = (pod: Pod) => `${pod.metadata.namespace}/${pod.metadata.name}`;
  /** When a pod entered its state: uid/state -> milliseconds. */
  const since = new Map<string, { state: string; at: number }>();
  const add = (pod: Pod) => queue.add(keyOf(pod));
  const bound = new Map<string, string>();
  const draws = new DrawNames();
  pods.on({
    add: (pod) => {
      draws.nameOf(pod);
      add(pod);
    },
    update: (pod) => add(pod),
    delete: (pod) => {
      const { uid = '' } = pod.metadata;
      since.delete(uid);
      bound.delete(uid);
      draws.forget(uid);
      // There may be room now.
      unscheduled(pods.list()).forEach(add);
    },
  });
  const retry = () => unscheduled(pods.list()).forEach(add);
  nodes.on({ add: retry, update: retry });
  let addresses = 1;
  const reconcile = async (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    const pod = await client.get<Pod>(resources.pods, { namespace, name }).catch(ignoreMissing);
    if (!pod) return;
    const now = Date.now();
    const entered = enter(since, pod, now);
    const host = nodes.list().findIndex((node) => node.metadata.name === pod.spec?.nodeName);
    const step = nextStep({
      ...{ pod, now, since: entered, seed: options.seed, behaviour: behaviourOf(pod, options.behaviours) },
      draws: draws.nameOf(pod),
      ip: `10.${64 + ((addresses >> 16) & 63)}.${(addresses >> 8) & 255}.${addresses & 255}`,
      hostIp: `10.0.0.${host + 1}`,
    });
    if (step.do === 'wait') return { after: step.ms };
    if (step.do === 'remove') {
      await client
        .delete(resources.pods, { namespace, name }, { gracePeriodSeconds: 0 })
        .catch(ignoreMissing);
    } else if (step.do === 'status') {
      addresses++;
      await client
        .patch(resources.pods, { namespace, name, subresource: 'status' }, 'merge', { status: step.status })
        .catch(ignoreMissing);
    } else if (step.do === 'schedule') {
      return await schedule(pod);
    }
    return;
  };

  async function schedule(pod: Pod) {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    // The cache may not show the latest bindings yet; those are remembered here until it does.
    const others = pods.list().map((other) => withBinding(other, bound));
    const choice = chooseNode(pod, nodes.list(), others);
    if ('unschedulable' in choice) {
      await markUnschedulable(context, pod, choice.unschedulable);
      return { after: 1000 };
    }
    bound.set(uid, choice.node);
    const target = { apiVersion: 'v1', kind: 'Node', name: choice.node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
    await client
      .create(resources.pods, binding, { namespace, name, subresource: 'binding' })
      .catch((error: unknown) => {
        bound.delete(uid);
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      });
    return;
  }
  return runController({
    name: 'pod',
    queue,
    workers: 8,
    reconcile,
    signal,
    logger,
    ready: [pods.synced, nodes.synced],
  });
}

function unscheduled(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !pod.spec?.nodeName);
}

function withBinding(pod: Pod, bound: Map<string, string>): Pod {
  const uid = pod.metadata.uid ?? '';
  if (pod.spec?.nodeName) {
    bound.delete(uid);
    return pod;
  }
  const nodeName = bound.get(uid);
  return nodeName && pod.spec ? { ...pod, spec: { ...pod.spec, nodeName } } : pod;
}

function enter(since: Map<string, { state: string; at: number }>, pod: Pod, now: number): number {
  const uid = pod.metadata.uid ?? '';
  const state = `${pod.metadata.deletionTimestamp !== undefined}/${pod.spec?.nodeName ?? ''}/${pod.status?.phase ?? ''}`;
  const known = since.get(uid);
  if (known?.state === state) return known.at;
  since.set(uid, { state, at: now });
  return now;
}

async function markUnschedulable(context: Context, pod: Pod, message: string): Promise<void> {
  const { namespace = '', name = '' } = pod.metadata;
  const known = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  if (known?.message === message) return;
  const at = timestamp(Date.now());
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastTransitionTime: at,
  };
  await context.client
    .patch(resources.pods, { namespace, name, subresource: 'status' }, 'merge', {
      status: { phase: 'Pending', conditions: [condition] },
    })
    .catch(ignoreMissing);
}
