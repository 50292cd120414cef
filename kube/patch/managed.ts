import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { ownedByCreator } from './first-owner.ts';
import { decodeManagers, encodeManagers, isReset, type ManagerEntry } from './managers.ts';
import { type FieldManagement, recordUpdate, withManagers } from './record.ts';

export { applyServerSide } from './apply.ts';
export type { FieldManagement } from './record.ts';

/**
 * `next` with metadata.managedFields as a create, update or patch by this manager leaves them. `live` is the
 * stored object, undefined for a create; `next` is the object to store, defaults included.
 */
export function updateManagers(
  live: KubeObject | undefined,
  next: KubeObject,
  management: FieldManagement,
): KubeObject {
  if (live === undefined && !next.metadata.managedFields) return created(next, management);
  const managers = managersOf(live, next, management);
  if (managers.size > 0 || live === undefined) recordUpdate(managers, live, next, management);
  return withManagers(next, managers);
}

function created(object: KubeObject, management: FieldManagement): KubeObject {
  const managedFields = ownedByCreator(object, management, () => {
    const managers = new Map<string, ManagerEntry>();
    recordUpdate(managers, undefined, object, management);
    return encodeManagers(managers);
  });
  return managedFields ? { ...object, metadata: { ...object.metadata, managedFields } } : object;
}

/** A client may rewrite managedFields themselves, but not empty them by not knowing them. */
function managersOf(
  live: KubeObject | undefined,
  next: KubeObject,
  management: FieldManagement,
): Map<string, ManagerEntry> {
  if (!management.subresource) {
    if (isReset(next.metadata)) return new Map();
    const given = decodeOrNone(next.metadata.managedFields, 'given');
    if (given.size > 0) return given;
  }
  return decodeOrNone(live?.metadata.managedFields, 'stored');
}

function decodeOrNone(
  entries: readonly ManagedFieldsEntry[] | undefined,
  source: 'stored' | 'given',
): Map<string, ManagerEntry> {
  try {
    return decodeManagers(entries, source);
  } catch {
    return new Map();
  }
}
