import type { KubeObject } from '../../kube/object.ts';

export const apiVersionOf = {
  workspace: 'tenancy.kcp.io/v1alpha1',
  logicalCluster: 'core.kcp.io/v1alpha1',
} as const;

/** A child logical cluster, as its parent sees it. `cluster` is its id, by which the path leads to it. */
export type Workspace = KubeObject<
  { type?: { name?: string; path?: string }; cluster?: string; URL?: string },
  { phase?: string; conditions?: unknown[] }
>;

/** Named `cluster`, inside every logical cluster: that it exists says that the logical cluster does. */
export type LogicalCluster = KubeObject<{ owner?: Record<string, string> }, { phase?: string; URL?: string }>;
