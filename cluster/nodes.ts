import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, listAt } from '../kube/untyped.ts';
import type { ReflectedKind } from './reflected.ts';

/** Nodes of physical clusters, as logical clusters show those on which their pods run. */
export const reflectedNodes: ReflectedKind = {
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  shared: false,
};

const specFields = ['podCIDR', 'podCIDRs', 'providerID', 'taints', 'unschedulable'];
const statusFields = ['capacity', 'allocatable', 'addresses', 'nodeInfo', 'phase'];

/**
 * What of a Node is shown: what tools look up. Its heartbeats would be a write every few seconds for each logical
 * cluster, and its lists of images and volumes are long and about everybody's pods.
 */
export function shownNode({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const conditions = listAt(status, 'conditions').filter(isRecord).map(atRest);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      ...(name && { name }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations: withoutApplied(annotations) }),
    },
    spec: fieldsOf(spec, specFields),
    status: { ...fieldsOf(status, statusFields), ...(conditions.length > 0 && { conditions }) },
  };
}

/** It was heard of at least when it last changed. */
function atRest({ lastHeartbeatTime, ...condition }: Record<string, unknown>): object {
  const { lastTransitionTime } = condition;
  const isTold = lastHeartbeatTime !== undefined && lastTransitionTime !== undefined;
  return { ...condition, ...(isTold && { lastHeartbeatTime: lastTransitionTime }) };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** What was applied there is nobody's to compare with here. */
function withoutApplied({
  [lastApplied]: _,
  ...annotations
}: Record<string, string>): Record<string, string> {
  return annotations;
}

function fieldsOf(from: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = at(from, name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
