import { timestamp } from '../../kube/timestamp.ts';
import type { Pod, PodCondition } from '../types.ts';
import { type Behaviour, draw } from './behaviour.ts';

/** What to do with a pod now, or how long to wait. */
export type Step =
  | { do: 'wait'; ms: number }
  | { do: 'nothing' }
  | { do: 'schedule' }
  | { do: 'status'; status: Record<string, unknown> }
  | { do: 'remove' };

/** When the pod entered its present state, as the simulator saw it (milliseconds). */
export interface Clocked {
  pod: Pod;
  behaviour: Behaviour;
  since: number;
  now: number;
  seed: number;
  /** Names the pod for the draw of its delays: the same in every run, which its uid is not. */
  draws: string;
  ip: string;
  hostIp: string;
}

/** Pending -> scheduled -> ready -> perhaps Succeeded; deleted -> gone. */
export function nextStep(of: Clocked): Step {
  const { pod, behaviour } = of;
  const due = (span: readonly [number, number], then: Step, what: string): Step => {
    const left = of.since + draw(span, of.seed, `${of.draws}/${what}`) - of.now;
    return left > 0 ? { do: 'wait', ms: left } : then;
  };
  if (pod.metadata.deletionTimestamp) return due(behaviour.stopsAfterMs, { do: 'remove' }, 'stop');
  if (!pod.spec?.nodeName) return due(behaviour.scheduledAfterMs, { do: 'schedule' }, 'schedule');
  const phase = pod.status?.phase ?? 'Pending';
  if (phase === 'Pending') {
    if (alreadyWaits(pod, behaviour)) return { do: 'nothing' };
    return due(behaviour.readyAfterMs, { do: 'status', status: started(of) }, 'ready');
  }
  if (phase === 'Running' && behaviour.succeedsAfterMs) {
    return due(behaviour.succeedsAfterMs, { do: 'status', status: succeeded(of) }, 'succeed');
  }
  return { do: 'nothing' };
}

function alreadyWaits(pod: Pod, behaviour: Behaviour): boolean {
  return behaviour.fails?.as === 'Waiting' && pod.status?.['containerStatuses'] !== undefined;
}

function started(of: Clocked): Record<string, unknown> {
  const fails = of.behaviour.fails;
  if (fails?.as === 'Failed') {
    const state = {
      terminated: { exitCode: 1, reason: fails.reason, message: fails.message, ...period(of) },
    };
    return {
      ...base(of, 'Failed', false, fails.reason),
      reason: fails.reason,
      ...containers(of, state, false),
    };
  }
  if (fails) {
    const state = { waiting: { reason: fails.reason, message: fails.message } };
    return { ...base(of, 'Pending', false, 'ContainersNotReady'), ...containers(of, state, false) };
  }
  return { ...base(of, 'Running', true), ...containers(of, { running: { startedAt: at(of) } }, true) };
}

function succeeded(of: Clocked): Record<string, unknown> {
  const state = { terminated: { exitCode: 0, reason: 'Completed', ...period(of) } };
  return { ...base(of, 'Succeeded', false, 'PodCompleted'), ...containers(of, state, false) };
}

function base(of: Clocked, phase: string, ready: boolean, reason?: string): Record<string, unknown> {
  const condition = (type: string, status: boolean): PodCondition => ({
    type,
    status: status ? 'True' : 'False',
    ...(!status && reason && { reason }),
    lastTransitionTime: at(of),
  });
  const done = phase === 'Succeeded';
  const ip = of.pod.status?.podIP ?? of.ip;
  return {
    phase,
    startTime: of.pod.status?.startTime ?? at(of),
    podIP: ip,
    podIPs: [{ ip }],
    hostIP: of.hostIp,
    hostIPs: [{ ip: of.hostIp }],
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', ready || done),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
  };
}

function containers(of: Clocked, state: Record<string, unknown>, ready: boolean): Record<string, unknown> {
  const statuses = (of.pod.spec?.containers ?? []).map(({ name, image }) => ({
    name,
    image: image ?? '',
    imageID: '',
    containerID: `sim://${of.pod.metadata.uid}/${name}`,
    ready,
    started: ready,
    restartCount: 0,
    state,
    lastState: {},
  }));
  return { containerStatuses: statuses };
}

function period(of: Clocked): Record<string, string> {
  return { startedAt: of.pod.status?.startTime ?? at(of), finishedAt: at(of) };
}

function at(of: Clocked): string {
  return timestamp(of.now);
}
