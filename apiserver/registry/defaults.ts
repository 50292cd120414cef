import { bootstrapFlows, type FlowResource } from '../../kube/flow/bootstrap.ts';
import type { KubeObject } from '../../kube/object.ts';
import { bootstrapObjects, type RbacResource } from '../../kube/rbac/bootstrap.ts';
import { type Flows, flowKinds, flowResource } from './flows.ts';
import { objectKey, type StoredAs } from './keys.ts';
import { notesOf } from './notes.ts';
import { type Roles, rbacKinds, rbacResource } from './roles.ts';

/** A kind of which every logical cluster has objects that nobody wrote: docs/decisions/0027. */
export type DefaultKind = RbacResource | FlowResource;

/** Who follows what is stored of them. */
export interface Followed {
  readonly roles: Roles;
  readonly flows: Flows;
}

export function defaultKind(group: string, resource: string): DefaultKind | undefined {
  return rbacResource(group, resource) ?? flowResource(group, resource);
}

export function defaultObjects(kind: DefaultKind): readonly KubeObject[] {
  return isFlow(kind) ? bootstrapFlows(kind) : bootstrapObjects(kind);
}

export function storedAs(kind: DefaultKind): StoredAs {
  return isFlow(kind) ? flowKinds[kind] : rbacKinds[kind];
}

/** As which kube-apiserver writes them. */
export function managerOf(kind: DefaultKind): string {
  return isFlow(kind) ? 'api-priority-and-fairness-config-producer-v1' : 'kube-apiserver';
}

export function isWritten({ roles, flows }: Followed, cluster: string, kind: DefaultKind): boolean {
  return isFlow(kind) ? flows.isWritten(cluster, kind) : roles.index.isWritten(cluster, kind);
}

/** Where it says that they are objects there. */
export function noteKey(cluster: string, kind: DefaultKind): string {
  return objectKey(notesOf(storedAs(kind).group), cluster, '', kind);
}

/** This server wrote one of them, or the note, just now. */
export function tellWritten(
  { roles, flows }: Followed,
  kind: DefaultKind,
  key: string,
  object: KubeObject | undefined,
  revision: number,
): void {
  if (isFlow(kind)) flows.wrote(key, object, revision);
  else roles.wrote(key, object, revision);
}

function isFlow(kind: DefaultKind): kind is FlowResource {
  return kind in flowKinds;
}
