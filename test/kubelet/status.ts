import type { KubeObject } from '../../kube/object.ts';
import { listAt, textAt } from '../../kube/untyped.ts';

/** `creating` has no address yet, `running` is not ready yet, `ready` answers, `ending` was sent SIGTERM. */
export type State = 'creating' | 'running' | 'ready' | 'ending';

/** The status that a kubelet writes of a pod whose containers are all in that state. */
export function statusOf(pod: KubeObject, state: State, podIP: string, now: string): object {
  const isReady = state === 'ready';
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    ...(!isTrue && { reason: 'ContainersNotReady' }),
  });
  const containerStatuses = listAt(pod, 'spec', 'containers').map((container) => ({
    name: textAt(container, 'name'),
    image: textAt(container, 'image'),
    imageID: '',
    ready: isReady,
    started: state !== 'creating',
    restartCount: 0,
    state:
      state === 'creating' ? { waiting: { reason: 'ContainerCreating' } } : { running: { startedAt: now } },
  }));
  return {
    phase: state === 'creating' ? 'Pending' : 'Running',
    hostIP: '127.0.0.1',
    ...(state !== 'creating' && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: now,
    conditions: [
      condition('PodReadyToStartContainers', state !== 'creating'),
      condition('Initialized', true),
      condition('Ready', isReady),
      condition('ContainersReady', isReady),
    ],
    containerStatuses,
  };
}
