import type { ResourceRef } from '../client/url.ts';
import { type PlacedKind, placedKind } from '../cluster/kinds.ts';
import type { ClosureRef, ObjectRef, ShareView } from '../cluster/types.ts';
import { groupResource } from '../kube/gvk.ts';

/** One place on the physical cluster: `deployments.apps/<physical namespace>/<name>`. */
export type TargetId = string;

export interface TargetPlace {
  kind: ResourceRef;
  role: PlacedKind['role'];
  namespace: string;
  name: string;
}

export function targetId(
  resource: { group: string; resource: string },
  namespace: string,
  name: string,
): TargetId {
  return `${groupResource(resource)}/${namespace}/${name}`;
}

export function targetOf({ spec }: ShareView): TargetId {
  return spec ? targetId(spec.ref, spec.physicalNamespace, spec.ref.name) : '';
}

export function requiredTarget(share: ShareView, ref: ClosureRef): TargetId {
  return targetId(ref, share.spec?.physicalNamespace ?? '', ref.name);
}

/** `ref` names the version of a kind that the table does not have: of such only workloads are placed. */
export function parseTarget(id: TargetId, ref?: Pick<ObjectRef, 'version'>): TargetPlace {
  const [gr = '', namespace = '', name = ''] = id.split('/');
  const dot = gr.indexOf('.');
  const resource = dot < 0 ? gr : gr.slice(0, dot);
  const group = dot < 0 ? '' : gr.slice(dot + 1);
  const known = placedKind({ group, resource });
  const version = known?.version ?? ref?.version ?? 'v1';
  return { kind: { group, version, resource }, role: known?.role ?? 'workload', namespace, name };
}
