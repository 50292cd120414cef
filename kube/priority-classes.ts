import type { KubeObject } from './object.ts';

export const schedulingGroup = 'scheduling.k8s.io';

/**
 * The classes that every kube-apiserver 1.36 makes, as it makes them: k8s.io/kubernetes/pkg/apis/scheduling/v1. Nobody may
 * delete them. One copy for everybody: nobody may change it.
 */
export const systemClasses: readonly KubeObject[] = [
  made(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
  made(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
];

const values = new Map(systemClasses.map(({ metadata, value }) => [metadata.name, Number(value)]));

/** Undefined: it is no system class. */
export function systemPriority(name: string): number | undefined {
  return values.get(name);
}

function made(name: string, value: number, description: string): KubeObject {
  return {
    kind: 'PriorityClass',
    apiVersion: `${schedulingGroup}/v1`,
    metadata: { name },
    value,
    description,
  };
}
