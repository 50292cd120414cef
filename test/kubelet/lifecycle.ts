import type { KubeObject } from '../../kube/object.ts';
import { at, isRecord, listAt, numberAt, textAt } from '../../kube/untyped.ts';

/** What a kubelet does about a pod: `stop` is SIGTERM, its grace and then its removal, `kill` is SIGKILL. */
export type Step = 'start' | 'stop' | 'remove' | 'kill' | 'nothing';

/** Of a pod here: not known, running or about to, told to end. */
export type Local = 'none' | 'running' | 'stopping';

export function stepOf(pod: KubeObject | undefined, local: Local): Step {
  if (!pod) return local === 'none' ? 'nothing' : 'kill';
  if (textAt(pod, 'spec', 'nodeName') === undefined) return 'nothing';
  if (pod.metadata.deletionTimestamp !== undefined) {
    return local === 'none' ? 'remove' : local === 'running' ? 'stop' : 'nothing';
  }
  const hasEnded = ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '');
  return local === 'none' && !hasEnded ? 'start' : 'nothing';
}

export function isReadyIn(pod: KubeObject): boolean {
  return listAt(pod, 'status', 'conditions').some(
    (c) => at(c, 'type') === 'Ready' && at(c, 'status') === 'True',
  );
}

/** For how long it may go on after SIGTERM, in seconds. */
export function graceOf(pod: KubeObject): number {
  return (
    pod.metadata.deletionGracePeriodSeconds ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30
  );
}

/** The TCP ports that its containers say they listen at. */
export function portsOf(pod: KubeObject): number[] {
  const ports = listAt(pod, 'spec', 'containers').flatMap((container) => listAt(container, 'ports'));
  const tcp = ports.filter((port) => isRecord(port) && (at(port, 'protocol') ?? 'TCP') === 'TCP');
  return [...new Set(tcp.flatMap((port) => numberAt(port, 'containerPort') ?? []))];
}
