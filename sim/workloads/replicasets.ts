import type { Workload } from '../types.ts';
import { controllerRef } from './children.ts';

export const revisionKey = 'deployment.kubernetes.io/revision';
export const hashKey = 'pod-template-hash';

/** The ReplicaSet that a Deployment makes for its present template. */
export function newReplicaSet(owner: Workload, hash: string, revision: string, count: number): Workload {
  const template = owner.spec?.template ?? { spec: { containers: [] } };
  const labels = { ...template.metadata?.labels, [hashKey]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      labels,
      annotations: { ...passedOn(owner), [revisionKey]: revision },
      ownerReferences: [controllerRef(owner)],
    },
    spec: {
      replicas: count,
      selector: {
        ...owner.spec?.selector,
        matchLabels: { ...owner.spec?.selector?.matchLabels, [hashKey]: hash },
      },
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...(owner.spec?.minReadySeconds && { minReadySeconds: owner.spec.minReadySeconds }),
    },
  };
}

const notPassedOn = /^(kubectl\.kubernetes\.io\/last-applied-configuration$|deployment\.kubernetes\.io\/)/;

/** A Deployment's annotations, which its controller writes over those of its present ReplicaSet. */
export function passedOn({ metadata: { annotations = {} } }: Workload): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !notPassedOn.test(key)));
}

export function numberOf(set: Workload): number {
  return Number(set.metadata.annotations?.[revisionKey] ?? 0);
}

/** The number of the present template: a new one each time it changes, also back to an older one. */
export function revisionOf(current: Workload | undefined, old: readonly Workload[]): string {
  const newest = Math.max(0, ...old.map(numberOf));
  return String(current && numberOf(current) > newest ? numberOf(current) : newest + 1);
}

export function name(set: Workload): string {
  return set.metadata.name ?? '';
}
