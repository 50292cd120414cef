import { bootstrapFlows, type FlowResource } from '../../kube/flow/bootstrap.ts';
import type { KubeObject } from '../../kube/object.ts';
import { systemClasses } from '../../kube/priority-classes.ts';
import { bootstrapObjects, type RbacResource } from '../../kube/rbac/bootstrap.ts';
import { type Classes, type ClassResource, classKinds, classResource } from './classes.ts';
import { type Flows, flowKinds, flowResource } from './flows.ts';
import { objectKey, type StoredAs } from './keys.ts';
import { notesOf } from './notes.ts';
import { type Roles, rbacKinds, rbacResource } from './roles.ts';

/** A kind of which every logical cluster has objects that nobody wrote: docs/decisions/0027. */
export type DefaultKind = RbacResource | FlowResource | ClassResource;

/** Who follows what is stored of them. */
export interface Followed {
  readonly roles: Roles;
  readonly flows: Flows;
  readonly classes: Classes;
}

export function defaultKind(group: string, resource: string): DefaultKind | undefined {
  return rbacResource(group, resource) ?? flowResource(group, resource) ?? classResource(group, resource);
}

export function defaultObjects(kind: DefaultKind): readonly KubeObject[] {
  if (isClass(kind)) return systemClasses;
  return isFlow(kind) ? bootstrapFlows(kind) : bootstrapObjects(kind);
}

export function storedAs(kind: DefaultKind): StoredAs {
  if (isClass(kind)) return classKinds[kind];
  return isFlow(kind) ? flowKinds[kind] : rbacKinds[kind];
}

/** As which kube-apiserver writes them. */
export function managerOf(kind: DefaultKind): string {
  return isFlow(kind) ? 'api-priority-and-fairness-config-producer-v1' : 'kube-apiserver';
}

export function isWritten({ roles, flows, classes }: Followed, cluster: string, kind: DefaultKind): boolean {
  if (isClass(kind)) return classes.isWritten(cluster);
  return isFlow(kind) ? flows.isWritten(cluster, kind) : roles.index.isWritten(cluster, kind);
}

/** Where it says that they are objects there. */
export function noteKey(cluster: string, kind: DefaultKind): string {
  return objectKey(notesOf(storedAs(kind).group), cluster, '', kind);
}

/** This server wrote one of them, or the note, just now. */
export function tellWritten(
  { roles, flows, classes }: Followed,
  kind: DefaultKind,
  key: string,
  object: KubeObject | undefined,
  revision: number,
): void {
  if (isClass(kind)) classes.wrote(key, object, revision);
  else if (isFlow(kind)) flows.wrote(key, object, revision);
  else roles.wrote(key, object, revision);
}

function isClass(kind: DefaultKind): kind is ClassResource {
  return kind in classKinds;
}

function isFlow(kind: DefaultKind): kind is FlowResource {
  return kind in flowKinds;
}
