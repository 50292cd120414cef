import type { Informer } from '../../client/informer.ts';
import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { resources } from '../resources.ts';
import type { Node, Pod } from '../types.ts';
import { useVolumes } from '../volumes/contents.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';
import { type Behaviour, behaviourOf } from './behaviour.ts';
import { starting, stopping, tellContainers } from './containers.ts';
import { DrawNames } from './draw-names.ts';
import { nextStep } from './lifecycle.ts';
import { NodeScheduler } from './schedule.ts';

export interface PodOptions {
  behaviours: readonly Behaviour[];
  seed: number;
}

/** What is remembered of the pods that are there. */
interface Memory {
  draws: DrawNames;
  scheduler: NodeScheduler;
  /** Uid -> the state a pod is in, and since when (milliseconds). */
  since: Map<string, { state: string; at: number }>;
  /** How many pod addresses were given out. */
  addresses: number;
}

/** Scheduler and kubelets in one: binds pods, makes them ready, ends them, as their behaviour says. */
export function runPods(context: Context, options: PodOptions): Promise<void> {
  const { informers, signal, logger } = context;
  const queue = new WorkQueue({ maxDelayMs: 2000 });
  const pods = informers.for<Pod>(resources.pods);
  const nodes = informers.for<Node>(resources.nodes);
  const memory: Memory = {
    draws: new DrawNames(),
    scheduler: new NodeScheduler(context),
    since: new Map(),
    addresses: 0,
  };
  wakeOnChanges(queue, pods, nodes, memory);
  return runController({
    name: 'pod',
    queue,
    workers: 8,
    reconcile: (key) => step(key, { context, options, pods, nodes, memory }),
    signal,
    logger,
    ready: [pods.synced, nodes.synced],
  });
}

function wakeOnChanges(
  queue: WorkQueue,
  pods: Informer<Pod>,
  nodes: Informer<Node>,
  { draws, scheduler, since }: Memory,
): void {
  const add = (pod: Pod) => queue.add(`${pod.metadata.namespace}/${pod.metadata.name}`);
  const retry = () =>
    pods
      .list()
      .filter((pod) => !pod.spec?.nodeName)
      .forEach(add);
  pods.on({
    add: (pod) => {
      // In the order of their creation, so that each run names them alike.
      draws.nameOf(pod);
      add(pod);
    },
    update: (pod) => add(pod),
    delete: (pod) => {
      const { uid = '' } = pod.metadata;
      since.delete(uid);
      scheduler.forget(uid);
      draws.forget(uid);
      // There may be room now.
      retry();
    },
  });
  nodes.on({ add: retry, update: retry });
}

interface Scene {
  context: Context;
  options: PodOptions;
  pods: Informer<Pod>;
  nodes: Informer<Node>;
  memory: Memory;
}

async function step(key: string, scene: Scene): Promise<{ after: number } | undefined> {
  const { options, nodes, pods, memory } = scene;
  const { client, events } = scene.context;
  const [namespace = '', name = ''] = key.split('/');
  const pod = await client.get<Pod>(resources.pods, { namespace, name }).catch(ignoreMissing);
  if (!pod) return undefined;
  const now = Date.now();
  const host = nodes.list().findIndex((node) => node.metadata.name === pod.spec?.nodeName);
  const entered = enter(memory.since, pod, now);
  // Not at its end: what is said of a pod that is gone finds nobody.
  if (entered.isNew && pod.metadata.deletionTimestamp) tellContainers(events, pod, stopping);
  const next = nextStep({
    pod,
    now,
    seed: options.seed,
    behaviour: behaviourOf(pod, options.behaviours),
    since: entered.at,
    draws: memory.draws.nameOf(pod),
    ip: addressOf(options.seed, memory.addresses + 1),
    hostIp: `10.0.0.${host + 1}`,
  });
  if (next.do === 'wait') return { after: next.ms };
  if (next.do === 'schedule') return await memory.scheduler.schedule(pod, pods.list(), nodes.list());
  if (next.do === 'remove') {
    await client.delete(resources.pods, { namespace, name }, { gracePeriodSeconds: 0 }).catch(ignoreMissing);
  } else if (next.do === 'status') {
    memory.addresses++;
    if (next.status['phase'] === 'Running') await useVolumes(client, pod);
    await client
      .patch(resources.pods, { namespace, name, subresource: 'status' }, 'merge', { status: next.status })
      .catch(ignoreMissing);
    if ((pod.status?.phase ?? 'Pending') === 'Pending') tellContainers(events, pod, starting(next.status));
  }
  return undefined;
}

/** Clusters with other seeds have other addresses: easier on the eye where pods of several are shown together. */
function addressOf(seed: number, n: number): string {
  return `10.${64 + (Math.abs(seed) % 64)}.${(n >> 8) & 255}.${n & 255}`;
}

function enter(since: Memory['since'], pod: Pod, now: number): { at: number; isNew: boolean } {
  const uid = pod.metadata.uid ?? '';
  const state = `${pod.metadata.deletionTimestamp !== undefined}/${pod.spec?.nodeName ?? ''}/${pod.status?.phase ?? ''}`;
  const known = since.get(uid);
  if (known?.state === state) return { at: known.at, isNew: false };
  since.set(uid, { state, at: now });
  return { at: now, isNew: true };
}
