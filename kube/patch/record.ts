import type { JsonObject, KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './fields.ts';
import {
  capUpdaters,
  encodeManagers,
  type ManagerEntry,
  type Managers,
  managerId,
  withoutServerFields,
} from './managers.ts';
import { type InVersion, takeOwnership } from './ownership.ts';

/** Who writes, for metadata.managedFields. */
export interface FieldManagement {
  schema: Schema;
  /** At most 128 characters; the caller has checked. */
  manager: string;
  /** Of the request, e.g. `apps/v1`. */
  apiVersion: string;
  /** Empty for the object itself. */
  subresource?: string | undefined;
  /** RFC 3339 with seconds, for the entries this write touches. */
  time: string;
  /** An object of this kind in another of its versions; undefined for one that is not served. */
  inVersion?: InVersion | undefined;
  /** Fields that this write cannot set and so cannot own (reset paths), e.g. status on the main resource. */
  ignore?: FieldSet | undefined;
}

export interface ApplyManagement extends FieldManagement {
  /** Take fields that others own. */
  force: boolean;
}

/** Gives the writer what changed and takes it from the others. Changes the map. */
export function recordUpdate(
  managers: Map<string, ManagerEntry>,
  live: KubeObject | undefined,
  next: KubeObject,
  management: FieldManagement,
): void {
  const before = (live ? unmanaged(live) : {}) as JsonObject;
  const after = unmanaged(next) as JsonObject;
  const changed = takeOwnership(managers, undefined, { before, after, management }, true);
  if (changed.broken) {
    managers.clear();
    return;
  }
  const set = withoutServerFields(changed.modified.union(changed.added));
  if (!set.isEmpty()) {
    const self = identityOf(management, 'Update');
    const id = managerId(self);
    const previous = managers.get(id);
    managers.set(id, { ...self, time: management.time, set: previous ? set.union(previous.set) : set });
  }
  capUpdaters(managers);
}

export function identityOf(management: FieldManagement, operation: 'Apply' | 'Update') {
  const { manager, apiVersion, subresource = '' } = management;
  return { manager: manager || 'unknown', operation, apiVersion, subresource };
}

/** The object as far as it can be owned. */
export function unmanaged(object: KubeObject): KubeObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const managedFields = encodeManagers(managers);
  const rest = unmanaged(object);
  return managedFields ? { ...rest, metadata: { ...rest.metadata, managedFields } } : rest;
}
