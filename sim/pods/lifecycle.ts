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
export function nextStep(clocked: Clocked): Step {
  const { pod, behaviour } = clocked;
  const due = (span: readonly [number, number], then: Step, what: string): Step => {
    const left = clocked.since + draw(span, clocked.seed, `${clocked.draws}/${what}`) - clocked.now;
    return left > 0 ? { do: 'wait', ms: left } : then;
  };
  if (pod.metadata.deletionTimestamp) return due(behaviour.stopsAfterMs, { do: 'remove' }, 'stop');
  if (!pod.spec?.nodeName) return due(behaviour.scheduledAfterMs, { do: 'schedule' }, 'schedule');
  const phase = pod.status?.phase ?? 'Pending';
  if (phase === 'Pending') {
    if (alreadyWaits(pod, behaviour)) return { do: 'nothing' };
    return due(behaviour.readyAfterMs, { do: 'status', status: started(clocked) }, 'ready');
  }
  if (phase === 'Running' && behaviour.succeedsAfterMs) {
    return due(behaviour.succeedsAfterMs, { do: 'status', status: succeeded(clocked) }, 'succeed');
  }
  return { do: 'nothing' };
}

function alreadyWaits(pod: Pod, behaviour: Behaviour): boolean {
  return behaviour.fails?.as === 'Waiting' && pod.status?.['containerStatuses'] !== undefined;
}

function started(clocked: Clocked): Record<string, unknown> {
  const fails = clocked.behaviour.fails;
  if (fails?.as === 'Failed') {
    const state = {
      terminated: { exitCode: 1, reason: fails.reason, message: fails.message, ...period(clocked) },
    };
    return {
      ...base(clocked, 'Failed', false, fails.reason),
      reason: fails.reason,
      ...containers(clocked, state, false),
    };
  }
  if (fails) {
    const state = { waiting: { reason: fails.reason, message: fails.message } };
    return { ...base(clocked, 'Pending', false, 'ContainersNotReady'), ...containers(clocked, state, false) };
  }
  return {
    ...base(clocked, 'Running', true),
    ...containers(clocked, { running: { startedAt: at(clocked) } }, true),
  };
}

function succeeded(clocked: Clocked): Record<string, unknown> {
  const state = { terminated: { exitCode: 0, reason: 'Completed', ...period(clocked) } };
  return { ...base(clocked, 'Succeeded', false, 'PodCompleted'), ...containers(clocked, state, false) };
}

function base(clocked: Clocked, phase: string, ready: boolean, reason?: string): Record<string, unknown> {
  const condition = (type: string, status: boolean): PodCondition => ({
    type,
    status: status ? 'True' : 'False',
    ...(!status && reason && { reason }),
    lastTransitionTime: at(clocked),
  });
  const done = phase === 'Succeeded';
  const ip = clocked.pod.status?.podIP ?? clocked.ip;
  return {
    phase,
    startTime: clocked.pod.status?.startTime ?? at(clocked),
    podIP: ip,
    podIPs: [{ ip }],
    hostIP: clocked.hostIp,
    hostIPs: [{ ip: clocked.hostIp }],
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', ready || done),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
  };
}

function containers(
  clocked: Clocked,
  state: Record<string, unknown>,
  ready: boolean,
): Record<string, unknown> {
  const statuses = (clocked.pod.spec?.containers ?? []).map(({ name, image }) => ({
    name,
    image: image ?? '',
    imageID: '',
    containerID: `sim://${clocked.pod.metadata.uid}/${name}`,
    ready,
    started: ready,
    restartCount: 0,
    state,
    lastState: {},
  }));
  return { containerStatuses: statuses };
}

function period(clocked: Clocked): Record<string, string> {
  return { startedAt: clocked.pod.status?.startTime ?? at(clocked), finishedAt: at(clocked) };
}

function at(clocked: Clocked): string {
  return timestamp(clocked.now);
}
