import { isObject } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, listAt } from './read.ts';
import type { ReflectedKind } from './reflected.ts';

/** Nodes of physical clusters, as logical clusters show those on which their pods run. */
export const reflectedNodes: ReflectedKind = {
  ...{ group: '', version: 'v1', resource: 'nodes', kind: 'Node', shared: false },
};

const specFields = ['podCIDR', 'podCIDRs', 'providerID', 'taints', 'unschedulable'];
const statusFields = ['capacity', 'allocatable', 'addresses', 'nodeInfo', 'phase'];

/**
 * What of a Node is shown: what tools look up. Its heartbeats would be a write every few seconds for each logical
 * cluster, and its lists of images and volumes are long and about everybody's pods.
 */
export function shownNode({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const conditions = listAt(status, 'conditions').filter(isObject).map(withoutHeartbeat);
  return {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: {
      ...(name && { name }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: fieldsOf(spec, specFields),
    status: { ...fieldsOf(status, statusFields), ...(conditions.length > 0 && { conditions }) },
  };
}

function withoutHeartbeat({ lastHeartbeatTime: _, ...condition }: Record<string, unknown>): object {
  return condition;
}

function fieldsOf(from: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = at(from, name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
