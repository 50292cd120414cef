import type { KubeObject } from '../../../kube/object.ts';
import type { Node, Plan, Pod, Workload } from '../../../sim/types.ts';

export const now: number = Date.parse('2030-01-01T00:00:00Z');

let born = 0;

export function workload(kind: string, spec: object, more: Partial<KubeObject> = {}): Workload {
  return {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    ...more,
    metadata: { name: 'web', namespace: 'shop', uid: `uid-${kind}`, generation: 1, ...more.metadata },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
      ...spec,
    },
  } as Workload;
}

export interface PodState {
  ready?: boolean;
  phase?: string;
  deleting?: boolean;
  node?: string;
  /** Seconds before `now`. */
  readyFor?: number;
}

/** A pod that a plan created, some time later. */
export function become(pod: Pod, state: PodState = {}): Pod {
  const { ready = true, phase = 'Running', deleting = false, node = 'n1', readyFor = 100 } = state;
  const n = born++;
  const at = new Date(now - readyFor * 1000).toISOString();
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: pod.metadata.name ?? `${pod.metadata.generateName}${n}`,
      uid: `pod-${n}`,
      creationTimestamp: new Date(now - 10_000_000 + n * 1000).toISOString(),
      ...(deleting && { deletionTimestamp: new Date(now).toISOString() }),
    },
    spec: { nodeName: node, ...(pod.spec ?? { containers: [] }) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at }],
    },
  };
}

export function names(pods: readonly KubeObject[]): (string | undefined)[] {
  return pods.map((pod) => pod.metadata.name);
}

/** Carries creations and deletions out at once: what is created becomes ready, what is deleted is gone. */
export function settle(pods: readonly Pod[], plan: Plan<Pod>, state: PodState = {}): Pod[] {
  const left = pods.filter((pod) => !plan.remove.includes(pod.metadata.name ?? ''));
  return [...left, ...plan.create.map((pod) => become(pod, state))];
}

export function node(name: string, more: Partial<Node['spec'] & object> = {}, labels = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: more,
    status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } },
  };
}
