import type { Word } from '../../controller/events.ts';
import type { Events } from '../events.ts';
import type { Container, Pod } from '../types.ts';

/** What a kubelet says of one container. */
export type Told = (container: Container) => Word[];

export const stopping: Told = ({ name }) => [normal('Killing', `Stopping container ${name}`)];

/** Of a pod that comes to this status from Pending. */
export function starting(status: Record<string, unknown>): Told {
  const [first] = (status['containerStatuses'] ?? []) as { state?: { waiting?: { reason: string } } }[];
  const waiting = first?.state?.waiting;
  if (waiting) return () => [{ type: 'Warning', reason: 'Failed', message: `Error: ${waiting.reason}` }];
  return ({ image = '' }) => [
    normal('Pulled', `Container image "${image}" already present on machine`),
    normal('Created', 'Container created'),
    normal('Started', 'Container started'),
  ];
}

export function tellContainers(events: Events, pod: Pod, told: Told): void {
  const host = pod.spec?.nodeName;
  // Nothing of it ran anywhere, or nothing does any more.
  if (!host || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return;
  for (const container of pod.spec?.containers ?? []) {
    const fieldPath = `spec.containers{${container.name}}`;
    events.say(pod, told(container), { component: 'kubelet', host, fieldPath });
  }
}

function normal(reason: string, message: string): Word {
  return { type: 'Normal', reason, message };
}
