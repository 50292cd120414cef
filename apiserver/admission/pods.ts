import type { KubeObject } from '../../kube/object.ts';
import { forbidden, type StatusError } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

/** True for a write of the object itself, not of a part of it. */
export function isWriteOf(
  { stored: { info }, subresource, operation, object }: AdmissionRequest,
  group: string,
  resource: string,
  operations: readonly string[] = ['CREATE'],
): boolean {
  if (info.group !== group || info.resource !== resource || subresource !== '') return false;
  return object !== undefined && operations.includes(operation);
}

/** A Pod's spec, to be changed in place. */
export function specOf(object: KubeObject): Record<string, unknown> {
  if (!isRecord(object.spec)) object.spec = {};
  return object.spec as Record<string, unknown>;
}

export function refusal(request: AdmissionRequest, why: string): StatusError {
  return forbidden(request.requested.info, request.name, why);
}

/** Of a class that pods name, and that is not carried along: who counts on that is told. */
export function staysHere(request: AdmissionRequest, kind: string): void {
  const { name } = request.object?.metadata ?? {};
  request.warn(
    `a ${kind} is asked here and stays here: a pod that names ${name} runs where the physical cluster has one of that name`,
  );
}

export interface Resources {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

export interface Container {
  name: string;
  resources?: Resources;
}

export function containersOf(object: KubeObject, list: 'containers' | 'initContainers'): Container[] {
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  return Array.isArray(spec[list]) ? (spec[list] as Container[]) : [];
}
