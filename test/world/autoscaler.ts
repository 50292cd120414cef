import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at } from '../../kube/untyped.ts';
import { resources } from './objects.ts';

export interface Autoscaler {
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

type Spec = {
  minReplicas?: number;
  maxReplicas: number;
  scaleTargetRef: { kind?: string; name: string };
  behavior?: unknown;
};

/**
 * What the controller of HorizontalPodAutoscalers does on a physical cluster, for Deployments and StatefulSets: keeps the replicas at
 * `desired`, within each autoscaler's bounds (which are read first), through the scale subresource. None at all switch it off.
 */
export function runAutoscaler(client: Client, desired: () => number | Promise<number>): Autoscaler {
  let stopped = false;
  let paused = false;
  const loop = async () => {
    while (!stopped) {
      if (!paused) await pass(client, desired);
      await sleep(30);
    }
  };
  const ended = loop();
  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    stop: async () => {
      stopped = true;
      await ended;
    },
  };
}

async function pass(client: Client, desired: () => number | Promise<number>): Promise<void> {
  const { items } = await client.list<KubeObject<Spec>>(resources.horizontalpodautoscalers);
  for (const { metadata, spec } of items) {
    const { minReplicas = 1, maxReplicas, scaleTargetRef, behavior } = spec as Spec;
    const scaled = scaleTargetRef.kind === 'StatefulSet' ? resources.statefulsets : resources.deployments;
    const target = { namespace: metadata.namespace ?? '', name: scaleTargetRef.name };
    try {
      const scale = await client.get<KubeObject<{ replicas?: number }>>(scaled, {
        ...target,
        subresource: 'scale',
      });
      const there = scale.spec?.replicas;
      if (!there) continue;
      const isDisabled = (way: string) => at(behavior, way, 'selectPolicy') === 'Disabled';
      const asks = await desired();
      const wanted = isDisabled(asks > there ? 'scaleUp' : 'scaleDown') ? there : asks;
      const replicas = Math.max(minReplicas, Math.min(maxReplicas, wanted));
      if (there === replicas) continue;
      const fieldManager = 'kube-controller-manager';
      await client.update(scaled, { ...scale, spec: { replicas } }, { subresource: 'scale', fieldManager });
    } catch (error) {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    }
  }
}
