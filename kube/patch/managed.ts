import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './fields.ts';

/** Who writes, for metadata.managedFields. */
export interface FieldManagement {
  schema: Schema;
  /** At most 128 characters; the caller has checked. */
  manager: string;
  /** Of the request, e.g. `apps/v1`. */
  apiVersion: string;
  /** Empty for the object itself. */
  subresource?: string;
  /** RFC 3339, for the entries this write touches. */
  time: string;
  /** Fields that this write cannot set and so cannot own (reset paths), e.g. status on the main resource. */
  ignore?: FieldSet;
}

export interface ApplyManagement extends FieldManagement {
  force: boolean;
}

export function updateManagers(
  _live: KubeObject | undefined,
  next: KubeObject,
  _by: FieldManagement,
): KubeObject {
  return next;
}

export function applyServerSide(
  _live: KubeObject | undefined,
  applied: KubeObject,
  _by: ApplyManagement,
): { object: KubeObject } {
  return { object: applied };
}
