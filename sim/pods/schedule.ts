import type { Word } from '../../controller/events.ts';
import { isStatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { resources } from '../resources.ts';
import type { Node, Pod } from '../types.ts';
import { type Context, ignoreMissing } from '../workloads/controller.ts';
import { chooseNode } from './bind.ts';

/** A simulated cluster's scheduler. */
export class NodeScheduler {
  readonly #context: Context;
  /** Pod uid -> node. The cache may not show the latest bindings yet; they are remembered here until it does. */
  readonly #bound = new Map<string, string>();

  constructor(context: Context) {
    this.#context = context;
  }

  forget(uid: string): void {
    this.#bound.delete(uid);
  }

  /** Binds the pod, or says in its status why it cannot and answers when to look again. */
  async schedule(
    pod: Pod,
    pods: readonly Pod[],
    nodes: readonly Node[],
  ): Promise<{ after: number } | undefined> {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    const others = pods.filter((other) => other.metadata.uid !== uid).map((other) => this.#asBound(other));
    const choice = chooseNode(pod, nodes, others);
    if ('unschedulable' in choice) {
      await this.#refuse(pod, choice.unschedulable);
      return { after: 1000 };
    }
    this.#bound.set(uid, choice.node);
    const target = { apiVersion: 'v1', kind: 'Node', name: choice.node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
    try {
      const how = { namespace, name, subresource: 'binding' };
      await this.#context.client.create(resources.pods, binding, how);
    } catch (error) {
      this.#bound.delete(uid);
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      return undefined;
    }
    const message = `Successfully assigned ${namespace}/${name} to ${choice.node}`;
    this.#say(pod, { type: 'Normal', reason: 'Scheduled', message });
    return undefined;
  }

  #say(pod: Pod, word: Word): void {
    this.#context.events.say(pod, [word], { component: 'default-scheduler' });
  }

  #asBound(pod: Pod): Pod {
    const { uid = '' } = pod.metadata;
    if (pod.spec?.nodeName) {
      this.#bound.delete(uid);
      return pod;
    }
    const nodeName = this.#bound.get(uid);
    return nodeName && pod.spec ? { ...pod, spec: { ...pod.spec, nodeName } } : pod;
  }

  async #refuse(pod: Pod, message: string): Promise<void> {
    const { namespace = '', name = '' } = pod.metadata;
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (known?.message === message) return;
    this.#say(pod, { type: 'Warning', reason: 'FailedScheduling', message });
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: timestamp(Date.now()),
    };
    const status = { phase: 'Pending', conditions: [condition] };
    await this.#context.client
      .patch(resources.pods, { namespace, name, subresource: 'status' }, 'merge', { status })
      .catch(ignoreMissing);
  }
}
