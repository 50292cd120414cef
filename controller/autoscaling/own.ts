import type { Autoscaler } from './types.ts';

/** Of queues and whatever else is no object of the cluster. */
export const externalGroup = 'external.metrics.k8s.io';
/** Of pods and other objects, whatever a monitoring system counts of them. */
export const customGroup = 'custom.metrics.k8s.io';

const groupOf: Readonly<Record<string, string>> = {
  External: externalGroup,
  Pods: customGroup,
  Object: customGroup,
};

/** The APIs of metrics that it needs and no physical cluster has of itself; by `cpu` and `memory` it needs none. */
export function groupsOf({ spec }: Autoscaler): string[] {
  const groups = (spec?.metrics ?? []).flatMap(({ type }) => groupOf[type] ?? []);
  return [...new Set(groups)];
}

/** Of the versions of one API of metrics that are served that which is asked; the first is what Kubernetes would ask. */
const known: Readonly<Record<string, readonly string[]>> = {
  [externalGroup]: ['v1beta1'],
  [customGroup]: ['v1beta2', 'v1beta1'],
};

export function versionOf(group: string, served: readonly string[]): string {
  const [newest = '', ...older] = known[group] ?? [];
  return [newest, ...older].find((one) => served.includes(one)) ?? served[0] ?? newest;
}
